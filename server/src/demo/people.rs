//! Who learns at TechLearningPro, and what.

use super::random::Random;

const FIRST: &[&str] = &[
    "Ada", "Ana", "Amir", "Beatriz", "Chen", "Chloe", "Dana", "Daniel", "Elif", "Emma", "Farah",
    "Felix", "Grace", "Hana", "Hugo", "Ines", "Jakub", "Jonas", "Kavya", "Lena", "Liam", "Lucia",
    "Maya", "Mateo", "Mei", "Nadia", "Noah", "Olga", "Omar", "Priya", "Raj", "Rosa", "Sam",
    "Sofia", "Tariq", "Theo", "Uma", "Vera", "Yuki", "Zoe",
];
const LAST: &[&str] = &[
    "Abel", "Baker", "Bianchi", "Carter", "Costa", "Dubois", "Evans", "Fischer", "Garcia", "Gupta",
    "Haddad", "Hughes", "Ivanov", "Jensen", "Kaya", "Khan", "Kim", "Kowalski", "Lambert", "Lopez",
    "Meyer", "Moore", "Nakamura", "Novak", "Okafor", "Patel", "Quinn", "Rao", "Reyes", "Santos",
    "Schmidt", "Silva", "Singh", "Tanaka", "Turner", "Vogel", "Walker", "Weber", "Wong", "Young",
];
const CITIES: &[(&str, &[&str])] = &[
    (
        "US",
        &[
            "Austin", "Boston", "Chicago", "Denver", "Portland", "Seattle",
        ],
    ),
    (
        "UK",
        &["Bristol", "Glasgow", "Leeds", "London", "Manchester"],
    ),
    ("DE", &["Berlin", "Hamburg", "Köln", "Leipzig", "München"]),
    ("FR", &["Bordeaux", "Lyon", "Nantes", "Paris"]),
    ("IN", &["Bengaluru", "Chennai", "Delhi", "Mumbai", "Pune"]),
];
const TOPICS: &[&str] = &[
    "algebra",
    "chemistry",
    "data",
    "design",
    "french",
    "music",
    "physics",
    "python",
    "rust",
    "spanish",
    "sql",
    "statistics",
    "writing",
];

/// Courses by id.
pub(crate) const COURSES: &[&str] = &[
    "py-101", "py-201", "sql-101", "sql-301", "stat-110", "alg-050", "rust-100", "rust-200",
    "ux-120", "es-a1", "es-a2", "fr-a1",
];

/// A learner's account.
#[derive(Clone, Debug)]
pub(crate) struct User {
    /// Number of the account.
    pub(crate) id: i64,
    /// Full name.
    pub(crate) name: String,
    /// City.
    pub(crate) city: &'static str,
    /// Postal code.
    pub(crate) postcode: String,
    /// `free`, `pro` or `team`.
    pub(crate) plan: &'static str,
    /// Topics chosen.
    pub(crate) topics: Vec<&'static str>,
    /// Days since 1970.
    pub(crate) signup: i32,
    /// Microseconds since 1970.
    pub(crate) last_seen: i64,
    /// Courses started.
    pub(crate) courses: i32,
    /// Credit in cents.
    pub(crate) credit: i128,
    /// Whether letters may be sent; `None` where never asked.
    pub(crate) letters: Option<bool>,
}

impl User {
    /// An account of a region, created at most two years before `now` (milliseconds).
    pub(crate) fn new(random: &mut Random, id: i64, region: &str, now: i64) -> Self {
        let cities = CITIES.iter().find(|(name, _)| *name == region);
        let today = (now / 86_400_000) as i32;
        let topics = random.below(4);
        Self {
            id,
            name: format!("{} {}", random.pick(FIRST), random.pick(LAST)),
            city: cities.map_or("", |(_, cities)| random.pick(cities)),
            postcode: format!("{:05}", random.below(100_000)),
            plan: plan(random),
            topics: (0..topics).map(|_| random.pick(TOPICS)).collect(),
            signup: today - random.below(730) as i32,
            last_seen: (now - random.between(0, 40 * 86_400_000)) * 1_000,
            courses: random.below(14) as i32,
            credit: i128::from(random.between(0, 12_000)),
            letters: (!random.per_mille(150)).then(|| random.per_mille(600)),
        }
    }

    /// The address of the account, at a domain that does not exist.
    pub(crate) fn email(&self) -> String {
        let name = self.name.to_lowercase().replace(' ', ".");
        format!("{name}.{}@learners.tlp", self.id)
    }

    /// What a day of learning changes.
    pub(crate) fn learn(&mut self, random: &mut Random, now: i64) {
        self.last_seen = (now - random.between(0, 7_200_000)) * 1_000;
        self.courses += random.below(2) as i32;
        if random.per_mille(60) {
            self.plan = plan(random);
        }
    }
}

fn plan(random: &mut Random) -> &'static str {
    match random.below(10) {
        0..=5 => "free",
        6..=8 => "pro",
        _ => "team",
    }
}
