"""What a heading says is cited by nothing, so it must not outlive the claims it was made from."""

from __future__ import annotations

from curator.persona import headings


def test_a_heading_goes_when_a_word_of_it_stands_in_no_claim_any_more():
    claims = ["Mara sails the boat on Sundays.", "Mara repairs the boat each winter."]
    assert headings.fits("Boat and Winter", claims)
    assert not headings.fits("Hospital and Boat", claims)
