"""Attributes of the embedded data sets and their levels, in the order in which a person reads them."""

from __future__ import annotations

from typing import Final, TypeAlias

from fairbounds.levels import Level

__all__ = ["SCHEMAS", "Schema"]

Schema: TypeAlias = dict[str, tuple[Level, ...]]

_ADULT: Final[Schema] = {
    "age": ("<25", "25-60", ">60"),
    "workclass": ("private", "non-private"),
    "education": (
        "primary/middle school",
        "high-school",
        "HS-grad",
        "Some-college",
        "Assoc-voc",
        "Assoc-acdm",
        "Bachelors",
        "Masters",
        "Prof-school",
        "Doctorate",
    ),
    "marital-status": ("married", "other"),
    "occupation": (
        "Adm-clerical",
        "Armed-Forces",
        "Craft-repair",
        "Exec-managerial",
        "Farming-fishing",
        "Handlers-cleaners",
        "Machine-op-inspct",
        "Other-service",
        "Priv-house-serv",
        "Prof-specialty",
        "Protective-serv",
        "Sales",
        "Tech-support",
        "Transport-moving",
    ),
    "relationship": ("Husband", "Wife", "Own-child", "Other-relative", "Not-in-family", "Unmarried"),
    "race": ("Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black", "Other", "White"),
    "sex": ("Female", "Male"),
    "capital-gain": ("<=5000", ">5000"),
    "capital-loss": ("<=40", ">40"),
    "hours-per-week": ("<40", "40-60", ">60"),
    "native-country": ("United-States", "other"),
    "income": ("<=50K", ">50K"),
}

_COMPAS: Final[Schema] = {
    "sex": ("Female", "Male"),
    "age_cat": ("Less than 25", "25 - 45", "Greater than 45"),
    "race": ("African-American", "Caucasian"),
    "juv_crime": (*range(12), 14),
    "priors_count": (*range(32), 33, 36, 37, 38),
    "c_charge_degree": ("F", "M"),
    "score_text": ("Low", "Medium", "High"),
    "v_score_text": ("Low", "Medium", "High"),
    "two_year_recid": ("no", "yes"),
}

_GERMAN: Final[Schema] = {
    "checking-account": ("none", "<0 DM", "0 to <200 DM", ">=200 DM or salary paid in"),
    "duration": ("<6 months", "6 to <12 months", ">=12 months"),
    "credit-history": (
        "no credits or all paid back",
        "all at this bank paid back",
        "existing paid back so far",
        "late in the past",
        "critical or credits elsewhere",
    ),
    "purpose": (
        "business",
        "domestic appliances",
        "education",
        "furniture/equipment",
        "new car",
        "other",
        "radio/television",
        "repairs",
        "retraining",
        "used car",
    ),
    "credit-amount": ("<=2000", "2001-5000", ">5000"),
    "savings-account": ("none or unknown", "<100 DM", "100 to <500 DM", "500 to <1000 DM", ">=1000 DM"),
    "employment-since": ("unemployed", "<1 year", "1 to <4 years", "4 to <7 years", ">=7 years"),
    "installment-rate": (1, 2, 3, 4),
    "other-debtors": ("none", "co-applicant", "guarantor"),
    "residence-since": (1, 2, 3, 4),
    "property": ("none or unknown", "car or other", "savings agreement or life insurance", "real estate"),
    "age": ("<=25", ">25"),
    "other-installment": ("none", "bank", "stores"),
    "housing": ("own", "rent", "for free"),
    "existing-credits": (1, 2, 3, 4),
    "job": (
        "unemployed or unskilled non-resident",
        "unskilled resident",
        "skilled or official",
        "management, self-employed or highly qualified",
    ),
    "people-liable": (1, 2),
    "telephone": ("no", "yes"),
    "foreign-worker": ("no", "yes"),
    "sex": ("female", "male"),
    "marital-status": ("single", "married/widowed", "divorced/separated", "divorced/separated/married"),
    "credit": ("bad", "good"),
}

SCHEMAS: Final[dict[str, Schema]] = {"adult": _ADULT, "compas": _COMPAS, "german": _GERMAN}
