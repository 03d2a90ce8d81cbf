//! What an endpoint's answer, or the lack of one, means.
