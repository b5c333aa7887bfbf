"""Which format to keep data in: from results, weights and requirements to a ranked answer with reasons.

docs/recommendation.md tells the method.
"""

from format_bench.recommendation.answer import Recommendation
from format_bench.recommendation.recommend import recommend
from format_bench.recommendation.requirements import Requirement

__all__ = ["Recommendation", "Requirement", "recommend"]
