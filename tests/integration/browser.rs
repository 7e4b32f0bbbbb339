//! Each page as a person uses it, in a real browser against the real server and the sample lake.

mod damage;
mod explorer;
mod hours;
mod hours_acts;
mod keyboard;
mod links;
mod looks;
mod maintenance;
mod reading;
mod restore;
