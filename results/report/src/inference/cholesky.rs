//! The triangular factor of a symmetric matrix, and the equations that it solves.

/// A symmetric positive matrix as the product of a lower triangle and its transpose.
#[derive(Debug, Clone)]
pub(crate) struct Cholesky {
    /// The rows of the triangle; row `i` has `i + 1` entries.
    rows: Vec<Vec<f64>>,
}

impl Cholesky {
    /// The factor of the matrix with these entries below and on the diagonal; `None` if the matrix
    /// is not positive.
    pub(crate) fn of(size: usize, entry: impl Fn(usize, usize) -> f64) -> Option<Cholesky> {
        let mut rows: Vec<Vec<f64>> = Vec::with_capacity(size);
        for i in 0..size {
            let mut row: Vec<f64> = Vec::with_capacity(i + 1);
            for j in 0..=i {
                let above = if j < i { &rows[j] } else { &row };
                let sum: f64 = row[..j].iter().zip(&above[..j]).map(|(a, b)| a * b).sum();
                let rest = entry(i, j) - sum;
                if j < i {
                    row.push(rest / rows[j][j]);
                } else if rest > 0.0 {
                    row.push(rest.sqrt());
                } else {
                    return None;
                }
            }
            rows.push(row);
        }
        Some(Cholesky { rows })
    }

    /// The solution of the equations with the triangle alone: the product of two solutions is the
    /// product of their right sides with the inverse of the matrix between them.
    pub(crate) fn half_solve(&self, right: &[f64]) -> Vec<f64> {
        let mut solved: Vec<f64> = Vec::with_capacity(right.len());
        for (row, value) in self.rows.iter().zip(right) {
            let known: f64 = row.iter().zip(&solved).map(|(a, b)| a * b).sum();
            solved.push((value - known) / row[solved.len()]);
        }
        solved
    }

    /// The logarithm of the determinant of the matrix.
    pub(crate) fn log_determinant(&self) -> f64 {
        let diagonal = self.rows.iter().map(|row| row[row.len() - 1].ln());
        2.0 * diagonal.sum::<f64>()
    }
}

/// The sum of the products of the entries.
pub(crate) fn product(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: [[4, 2], [2, 10]] is the product of [[2, 0], [1, 3]] and its transpose, and its
    /// determinant is 36. The inverse is [[10, -2], [-2, 4]] / 36.
    #[test]
    fn a_matrix_of_two_rows_by_hand() {
        let matrix = [[4.0, 2.0], [2.0, 10.0]];
        let factor = Cholesky::of(2, |i, j| matrix[i][j]).expect("it is positive");
        assert_eq!(factor.rows, [vec![2.0], vec![1.0, 3.0]]);
        assert!((factor.log_determinant() - 36.0_f64.ln()).abs() < 1e-12);
        let (one, other) = (factor.half_solve(&[1.0, 0.0]), factor.half_solve(&[0.0, 1.0]));
        assert!((product(&one, &one) - 10.0 / 36.0).abs() < 1e-12);
        assert!((product(&one, &other) + 2.0 / 36.0).abs() < 1e-12);
        assert!(Cholesky::of(2, |i, j| [[1.0, 2.0], [2.0, 1.0]][i][j]).is_none());
    }
}
