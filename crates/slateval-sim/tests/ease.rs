//! EASE against its textbook form, and against figures worked out elsewhere for MovieLens-1M.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BooleanArray, Decimal128Array, Float32Array, Int32Array, RecordBatch, StringArray, UInt64Array,
};
use parquet::arrow::ArrowWriter;
use slateval_sim::{
    Ease, Gain, Likes, Player, Policy, Purpose, Rating, Ratings, RatingsSettings, Simulation, Target, read_ratings,
    stream,
};

/// Users like items near their own place; more items than one block of the inverse has.
fn synthetic(users: i64, items: i64) -> Vec<Rating> {
    use rand::Rng;
    let mut random = stream(1, Purpose::World, 0);
    let mut below = |n: i64| (random.next_u64() % n as u64) as i64;
    let mut ratings = Vec::new();
    for user in 1..=users {
        for _ in 0..8 + below(10) {
            let item = 10 * ((user * 7 + below(40) + below(40)) % items);
            ratings.push(Rating { user, item, rating: [2.0, 3.5, 4.0, 4.5, 5.0][below(5) as usize] });
        }
    }
    ratings
}

/// `A^-1` by Gauss and Jordan, without pivots: the matrix is positive definite.
fn textbook_inverse(mut a: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let n = a.len();
    for i in 0..n {
        let pivot = std::mem::replace(&mut a[i][i], 1.0);
        a[i].iter_mut().for_each(|x| *x /= pivot);
        let own = a[i].clone();
        for row in (0..n).filter(|&row| row != i) {
            let factor = std::mem::replace(&mut a[row][i], 0.0);
            a[row].iter_mut().zip(&own).for_each(|(x, own)| *x -= factor * own);
        }
    }
    a
}

#[test]
fn the_model_is_the_textbooks() {
    let likes = Likes::new(&synthetic(900, 600), 4.0, 3).unwrap();
    let n = likes.items.len();
    assert!(n > 512, "{n} items do not exercise the recursion");
    let mut gram = vec![vec![0.0; n]; n];
    for items in &likes.of_user {
        for &i in items {
            items.iter().for_each(|&j| gram[i as usize][j as usize] += 1.0);
        }
    }
    (0..n).for_each(|i| gram[i][i] += 20.0);
    let p = textbook_inverse(gram);
    let last = std::sync::Mutex::new(0.0);
    let ease = Ease::fit(&likes, 20.0, &|share| {
        let mut last = last.lock().unwrap();
        assert!(share >= *last, "progress goes on");
        *last = share;
    })
    .unwrap();
    assert_eq!(*last.lock().unwrap(), 1.0);
    for (i, row) in p.iter().enumerate() {
        for (j, p_ij) in row.iter().enumerate() {
            let wanted = if i == j { 0.0 } else { -p_ij / p[j][j] };
            assert!((ease.weight(i, j) - wanted).abs() < 1e-10, "{i}, {j}");
        }
    }
    let own = &likes.of_user[3];
    let scores = ease.scores(own);
    for (j, score) in scores.iter().enumerate() {
        let wanted: f64 = own.iter().map(|&i| ease.weight(i as usize, j)).sum();
        assert!((score - wanted).abs() < 1e-10);
    }
    let best = ease.best(own, 4);
    let mut sorted = scores;
    sorted.sort_by(|a, b| b.total_cmp(a));
    assert_eq!(best.iter().map(|(_, score)| *score).collect::<Vec<_>>(), sorted[..4]);
}

#[test]
fn likes_by_hand() {
    let rating = |user, item, rating| Rating { user, item, rating };
    let ratings = [
        rating(2, 30, 5.0),
        rating(2, 10, 4.0),
        rating(2, 10, 5.0),
        rating(2, 20, 3.5),
        rating(1, 30, 4.5),
        rating(1, 40, 4.0),
        rating(3, 50, 5.0),
    ];
    let likes = Likes::new(&ratings, 4.0, 2).unwrap();
    assert_eq!((likes.users, likes.items), (vec![1, 2], vec![10, 30, 40]));
    assert_eq!(likes.of_user, [vec![1, 2], vec![0, 1]]);
    assert!(Likes::new(&ratings, 4.0, 3).is_err());
}

fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn all_formats_say_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let ratings = synthetic(40, 30);
    let lines = |separator: &str| -> String {
        let line = |r: &Rating| {
            let fields = [r.user.to_string(), r.item.to_string(), r.rating.to_string(), "978300760".to_owned()];
            fields.join(separator) + "\n"
        };
        ratings.iter().map(line).collect()
    };
    let csv = write(folder.path(), "ratings.csv", &format!("userId,movieId,rating,timestamp\n{}", lines(",")));
    let dat = write(folder.path(), "ratings.dat", &lines("::"));
    let parquet = folder.path().join("ratings.parquet");
    let ids = |of: fn(&Rating) -> i64| -> ArrayRef {
        Arc::new(ratings.iter().map(|r| i32::try_from(of(r)).unwrap()).collect::<Int32Array>())
    };
    let batch = RecordBatch::try_from_iter([
        ("rating", Arc::new(ratings.iter().map(|r| r.rating).collect::<Float32Array>()) as ArrayRef),
        ("user_id", ids(|r| r.user)),
        ("item_id", ids(|r| r.item)),
    ])
    .unwrap();
    let mut writer = ArrowWriter::try_new(std::fs::File::create(&parquet).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    for path in [csv, dat, parquet] {
        assert_eq!(read_ratings(&path).unwrap(), ratings, "{}", path.display());
    }
}

fn parquet(path: &Path, columns: [(&str, ArrayRef); 3]) -> slateval_sim::Result<Vec<Rating>> {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = ArrowWriter::try_new(std::fs::File::create(path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    read_ratings(path)
}

#[test]
fn numbers_of_any_type_are_ratings() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ratings.parquet");
    let kinds: [ArrayRef; 5] = [
        Arc::new(Int32Array::from(vec![7, 3])),
        Arc::new(UInt64Array::from(vec![7, 3])),
        Arc::new(Float32Array::from(vec![7.0, 3.0])),
        Arc::new(StringArray::from(vec!["7", " 3"])),
        Arc::new(Decimal128Array::from(vec![70, 30]).with_precision_and_scale(5, 1).unwrap()),
    ];
    let wanted = [7, 3].map(|number| Rating { user: number, item: number, rating: number as f32 });
    for kind in kinds {
        let columns = ["user", "item", "rating"].map(|name| (name, kind.clone()));
        assert_eq!(parquet(&path, columns).unwrap(), wanted, "{}", kind.data_type());
    }
    let good: ArrayRef = Arc::new(Int32Array::from(vec![7, 3]));
    let bad: [(ArrayRef, &str); 4] = [
        (Arc::new(Int32Array::from(vec![Some(7), None])), "`user` has 1 nulls"),
        (Arc::new(Float32Array::from(vec![0.5, 1.5])), "`user` has 2 nulls or values that are no numbers"),
        (Arc::new(StringArray::from(vec!["7", "x"])), "`user` has 1 nulls"),
        (Arc::new(BooleanArray::from(vec![true, false])), "`user` is of type Boolean"),
    ];
    for (users, words) in bad {
        let columns = [("user", users), ("item", good.clone()), ("rating", good.clone())];
        let message = parquet(&path, columns).unwrap_err().to_string();
        assert!(message.contains(words), "{message}");
    }
}

#[test]
fn bad_files_are_refused_with_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let said = |name: &str, text: &str| read_ratings(&write(folder.path(), name, text)).unwrap_err().to_string();
    let message = said("a.csv", "userId,movieId,rating,timestamp\n1,2,4,0\n1,x,4,0\n");
    assert!(message.contains("a.csv, line 3") && message.contains("`x`") && message.contains("movie id"), "{message}");
    let message = said("b.dat", "1::2::good::0\n");
    assert!(message.contains("line 1") && message.contains("`good`"), "{message}");
    assert!(said("c.csv", "userId,movieId,rating\n1,2,NaN\n").contains("`NaN` is no rating"));
    assert!(said("d.csv", "user,film,stars\n1,2,3\n").contains("there is no item column"));
    assert!(said("e.csv", "").contains("has none"));
    assert!(read_ratings(&folder.path().join("none.csv")).unwrap_err().to_string().contains("none.csv"));
}

#[test]
fn a_small_world_is_rewarded_as_written() {
    let likes = Likes::new(&synthetic(300, 60), 4.0, 3).unwrap();
    let ease = Ease::fit(&likes, 10.0, &|_| {}).unwrap();
    let settings = RatingsSettings { slots: 3, items: 8, likes: 5..=9, ..RatingsSettings::default() };
    for gain in [Gain::Ndcg, Gain::Dcg] {
        let world = Ratings::new(&likes, &ease, &RatingsSettings { gain, ..settings.clone() }).unwrap();
        let all: Vec<Vec<f64>> =
            (0..world.users().len()).map(|u| world.candidates(u).map(|(_, score)| score).collect()).collect();
        let policy = Policy::EpsilonGreedy { epsilon: 0.02 };
        let target = Target { name: "new".into(), policy };
        let simulation = Simulation::new(Box::new(world), Policy::Uniform, vec![target]).unwrap();
        let mut rows = slateval_sim::Rows::default();
        simulation.log(1).draw(1000, &mut rows);
        let dcg = |scores: &[f64], slate: [usize; 3]| -> f64 {
            (0..3).map(|k| scores[slate[k]] / ((k + 2) as f64).log2()).sum()
        };
        for row in 0..1000 {
            let scores = &all[rows.context[row] as usize];
            let slate = [0, 1, 2].map(|k| rows.items[k][row] as usize);
            let ideal = if gain == Gain::Ndcg { dcg(scores, [0, 1, 2]) } else { 1.0 };
            assert!((rows.reward[row] - dcg(scores, slate) / ideal).abs() < 1e-12);
            for (k, &item) in slate.iter().enumerate() {
                let pi = if item == k { 1.0 - 7.0 * 0.02 } else { 0.02 };
                assert!((rows.targets[0].pi[k][row] - pi).abs() < 1e-15 && rows.mu[k][row] == 0.125);
            }
        }
        let truth = simulation.truth(Player::Target(0), 50_000, 1).unwrap().distribution;
        assert!(gain != Gain::Ndcg || (0.8..1.0).contains(&truth.mean()), "{}", truth.mean());
    }
}

/// Where MovieLens-1M lies, which may not be handed on: `SLATEVAL_ML1M`, or beside the repository.
fn movielens() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/ml-1m");
    let folder = std::env::var_os("SLATEVAL_ML1M").map_or(beside, PathBuf::from);
    folder.join("ratings.csv").is_file().then_some(folder)
}

#[test]
fn movielens_1m_gives_the_known_figures() {
    let Some(folder) = movielens() else {
        println!("skipped: no ratings.csv of MovieLens-1M in SLATEVAL_ML1M or ../shared/data/ml-1m");
        return;
    };
    let likes = Likes::new(&read_ratings(&folder.join("ratings.csv")).unwrap(), 4.0, 5).unwrap();
    assert_eq!((likes.users.len(), likes.items.len(), likes.len()), (6034, 3533, 575_272));
    let ease = Ease::fit(&likes, 500.0, &|_| {}).unwrap();
    let n = likes.items.len();
    let weights = (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).map(|(i, j)| ease.weight(i, j));
    let (sum, squares) = weights.fold((0.0, 0.0), |(sum, squares), b| (sum + b, squares + b * b));
    assert!((sum - 2230.553263).abs() < 1e-5, "{sum}");
    assert!((squares.sqrt() - 9.136739).abs() < 1e-6, "{}", squares.sqrt());
    let place = |id| likes.items.iter().position(|&item| item == id).unwrap();
    assert!((ease.weight(place(1), place(2)) - 0.00734408).abs() < 1e-8);
    assert!((ease.weight(place(2), place(1)) - 0.01261445).abs() < 1e-8);
    let world = Ratings::new(&likes, &ease, &RatingsSettings::default()).unwrap();
    assert_eq!(world.users().len(), 370);
    let known = std::fs::read_to_string(folder.join("derived/ease_l500_ge4_users10-15_top20.csv")).unwrap();
    for (user, line) in known.lines().skip(1).enumerate() {
        let fields: Vec<f64> = line.split(',').map(|field| field.parse().unwrap()).collect();
        assert_eq!(fields[0], world.users()[user] as f64);
        for (rank, (item, score)) in world.candidates(user).enumerate() {
            assert_eq!(fields[1 + rank], item as f64, "user {}, rank {rank}", fields[0]);
            assert!((fields[21 + rank] - score).abs() < 2e-8);
        }
    }
}
