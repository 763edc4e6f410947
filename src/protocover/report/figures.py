"""Numbers as people read them."""

from __future__ import annotations

__all__ = ["percent", "short_number"]


def percent(share: float) -> str:
    """Return a share in percent, 0.0 and 100.0 only where it is none or all."""
    if 0.0 < share < 0.001:
        return "0.1 %" if share >= 0.0005 else "< 0.1 %"
    shown = min(100.0 * share, 99.9) if share < 1.0 else 100.0 * share
    return f"{shown:.1f} %"


def short_number(value: float) -> str:
    """Return a number to at most five digits, whole ones in full."""
    return f"{value:,.0f}" if value == round(value) and abs(value) < 1e12 else f"{value:,.5g}"
