//! Why the answer is what it is: reasons by counterfactual, published rules, and which factors decide.

pub(crate) mod counterfactual;
pub(crate) mod factors;
pub(crate) mod published_rules;
