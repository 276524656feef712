"""A CSV of five million rows: the whole audit against DuckDB's bare GROUP BY of the same file, and its memory.

Claim (issue "Foundation"): within 1.5 × of the bare GROUP BY, and under 1 GB. Measured warm (one process, both sides in
turn, after one small audit) and cold (a fresh process for every run, imports and loading of compiled kernels included).
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import duckdb

ROWS = 5_000_000
REPEATS = 5

BARE = """
import duckdb
duckdb.sql("SET enable_progress_bar = false")
query = "SELECT job, region, approved, count(*) FROM read_csv({file!r}, all_varchar=true) GROUP BY ALL"
duckdb.sql(query).fetchall()
"""

AUDIT = """
import fairbounds
fairbounds.audit({file!r}, {census!r}, protected="sex", decision="approved", external_weight="people")
"""

COLD = """
import json, time
start = time.perf_counter()
{body}
print(json.dumps(time.perf_counter() - start))
"""

WARM = """
import json, resource, time
import fairbounds

small = {{"job": ["job 1", "job 2"], "approved": ["yes", "no"], "sex": ["f", "m"]}}
inside = {{name: small[name] for name in ("job", "approved")}}
outside = {{name: small[name] for name in ("job", "sex")}}
fairbounds.audit(inside, outside, protected="sex", decision="approved")
times = {{"bare": [], "audit": []}}
for _ in range({repeats}):
    for side, body in (("bare", {bare!r}), ("audit", {audit!r})):
        start = time.perf_counter()
        exec(body)
        times[side].append(time.perf_counter() - start)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({{"bare": min(times["bare"]), "audit": min(times["audit"]), "peak_mb": peak}}))
"""


def make(folder: Path) -> tuple[str, str]:
    """Write applicants (rows) and a census (counts)."""
    file, census = folder / "applicants.csv", folder / "census.csv"
    duckdb.sql("SET enable_progress_bar = false")
    duckdb.sql("SELECT setseed(0.5)")
    duckdb.sql(f"""
        COPY (SELECT i AS id, 'job ' || (hash(i) % 40) AS job, 'region ' || (hash(i + 7) % 25) AS region,
                     CASE WHEN hash(i + 11) % 100 < 37 THEN 'yes' ELSE 'no' END AS approved,
                     (hash(i + 13) % 100000) / 100.0 AS amount
              FROM range({ROWS}) AS t(i)) TO '{file}' (HEADER)""")
    duckdb.sql(f"""
        COPY (SELECT 'job ' || j AS job, 'region ' || r AS region, s AS sex, 100 + hash(j * 1000 + r) % 900 AS people
              FROM range(40) AS a(j), range(25) AS b(r), (VALUES ('f'), ('m')) AS c(s)) TO '{census}' (HEADER)""")
    return str(file), str(census)


def run(program: str) -> Any:
    """Run a program in a fresh process and return what it printed."""
    return json.loads(
        subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    )


def main() -> None:
    """Print the ratios and the memory."""
    with tempfile.TemporaryDirectory() as folder:
        file, census = make(Path(folder))
        size = Path(file).stat().st_size / 1e6
        bare, audit = BARE.format(file=file), AUDIT.format(file=file, census=census)
        warm = run(WARM.format(bare=bare, audit=audit, repeats=REPEATS))
        cold = [(run(COLD.format(body=bare)), run(COLD.format(body=audit))) for _ in range(REPEATS)]
    print(f"{ROWS:,} rows, {size:.0f} MB")
    print(f"warm: bare GROUP BY {warm['bare']:.2f} s, audit {warm['audit']:.2f} s")
    print(f"  ratio {warm['audit'] / warm['bare']:.2f} (claim: at most 1.5)")
    print(f"  peak memory {warm['peak_mb']:.0f} MB (claim: under 1,000)")
    least = [min(side) for side in zip(*cold, strict=True)]
    print(f"cold: bare GROUP BY {least[0]:.2f} s, audit {least[1]:.2f} s, ratio {least[1] / least[0]:.2f} (no claim)")


if __name__ == "__main__":
    main()
