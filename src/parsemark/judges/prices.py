"""What tokens cost: the user's own price, or the published one of the model at that endpoint."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from parsemark.extras import needed_for


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens."""

    input_usd: float
    output_usd: float

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        """What so many tokens cost."""
        return (prompt_tokens * self.input_usd + completion_tokens * self.output_usd) / 1e6


@lru_cache(maxsize=64)
def published_price(model: str, base_url: str) -> Price | None:
    """The price that genai-prices knows for a model at an endpoint; None where it knows none.

    The endpoint decides: the same weights cost nothing on one's own machine.

    Raises:
        MissingDependencyError: genai-prices is not installed.
    """
    with needed_for("The price of a model"):
        from genai_prices import Usage, calc_price
    million = 1_000_000
    try:
        # Each kind of token alone, so that steps in the price by length do not mix.
        prices = [
            float(calc_price(usage, model_ref=model, provider_api_url=base_url).total_price)
            for usage in (
                Usage(input_tokens=million // 1000, output_tokens=0),
                Usage(input_tokens=0, output_tokens=million // 1000),
            )
        ]
    except (LookupError, ValueError):
        return None
    return Price(prices[0] * 1000, prices[1] * 1000)
