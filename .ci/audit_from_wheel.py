"""Run the installed `fairbounds` on two files made on the spot; run in a folder outside the source tree."""

import json
import subprocess
import sys
from pathlib import Path

import fairbounds

source_tree = Path(sys.argv[1])
command = Path(sys.executable).with_name("fairbounds")
assert source_tree not in Path(fairbounds.__file__).parents, "this is the source tree, not the wheel"

# Half of every job are women. Half the clerks are approved: maybe all women, maybe none. All the cooks are approved. So
# the rate of women is between 0.5 and 1, that of men as well, and the ratio between 0.5 and 2.
Path("applicants.csv").write_text("job,approved\n" + "clerk,yes\nclerk,no\n" * 10 + "cook,yes\n" * 20)
Path("census.csv").write_text("job,sex,n\nclerk,F,500\nclerk,M,500\ncook,F,500\ncook,M,500\n")


def audit(*options: str) -> "subprocess.CompletedProcess[str]":
    """Run one audit with the options given."""
    arguments = ["audit", "applicants.csv", "census.csv", "--external-weight", "n", *options]
    return subprocess.run([command, *arguments], check=False, capture_output=True, text=True)


done = audit(
    *("--protected", "sex", "--reference", "M", "--decision", "approved", "--favourable", "yes", "--format", "json")
)
assert done.returncode == 0, done.stderr
answer = json.loads(done.stdout)
assert answer["schema"] == "fairbounds/audit/1"
assert answer["strata"]["n"] == 2
rates = {entry["group"]: entry["selection_rate"] for entry in answer["groups"]}
for group in ("F", "M"):
    assert abs(rates[group]["lower"] - 0.5) < 1e-12, rates
    assert abs(rates[group]["upper"] - 1.0) < 1e-12, rates
[finding] = [entry for entry in answer["findings"] if entry["metric"] == "disparate_impact" and entry["group"] == "F"]
assert abs(finding["bounds"]["lower"] - 0.5) < 1e-12, finding
assert abs(finding["bounds"]["upper"] - 2.0) < 1e-12, finding
assert finding["verdict"] == "undetermined", finding
print("bounds as by hand:", finding["bounds"])

bad = audit("--protected", "sexe", "--decision", "approved")
assert bad.returncode == 2, bad
assert not bad.stdout, bad
assert "sexe" in bad.stderr, bad
assert "Traceback" not in bad.stderr, bad
print("a bad column exits with 2:", bad.stderr.strip())
