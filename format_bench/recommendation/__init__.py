"""Recommendation of a format: from results, weights and requirements to a ranking with reasons.

docs/recommendation.md describes the method.
"""

from format_bench.recommendation.recommend import Recommendation, recommend
from format_bench.recommendation.requirements import Requirement

__all__ = ["Recommendation", "Requirement", "recommend"]
