//! Stories of the scheduler, and random ones.

mod budgets;
mod fairness;
mod judging;
mod leases;
mod random;
mod reference;
mod replay;
mod runs;
mod size;
mod workers;
mod world;
