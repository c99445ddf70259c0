#include "dasgd/problems/quadratic.hpp"

#include <Eigen/Dense>

#include "dasgd/random/random.hpp"

namespace dasgd {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;

Eigen::Index size(std::size_t n) { return static_cast<Eigen::Index>(n); }

Eigen::Map<const Matrix> matrix(const LinearSystem& system) {
  return {system.a.data(), size(system.rows), size(system.columns)};
}

Matrix random_orthogonal(std::size_t dimension, Random random) {
  Matrix gaussian(size(dimension), size(dimension));
  for (Eigen::Index i = 0; i < gaussian.size(); ++i) gaussian.data()[i] = random.normal();
  return Eigen::HouseholderQR<Matrix>(gaussian).householderQ();
}

}  // namespace

Quadratic::Quadratic(LinearSystem system) : system_(std::move(system)) {}

Quadratic Quadratic::random(std::uint64_t seed, std::size_t dimension) {
  const Matrix left = random_orthogonal(dimension, Random(seed, Purpose::problem_matrix, 0));
  const Matrix right = random_orthogonal(dimension, Random(seed, Purpose::problem_matrix, 1));
  Random spread(seed, Purpose::problem_matrix, 2);
  Vector singular(size(dimension));
  for (double& value : singular) value = 1 + spread.uniform();
  singular[singular.size() - 1] = 2;
  singular[0] = dimension > 1 ? 1 : 2;
  const Matrix a = left * singular.asDiagonal() * right;

  LinearSystem system{dimension, dimension, {a.data(), a.data() + a.size()}, {}};
  Random normal(seed, Purpose::problem_vector);
  for (std::size_t i = 0; i < dimension; ++i) system.b.push_back(normal.normal());
  return Quadratic(std::move(system));
}

// Written out: at d = 10 this is the inner loop of whole experiments, and calling a library for
// matrices this small costs more than the sums.
double Quadratic::full_gradient(std::span<const double> x, std::span<double> gradient) const {
  std::fill(gradient.begin(), gradient.end(), 0.0);
  const std::size_t columns = system_.columns;
  double squares = 0;
  for (std::size_t r = 0; r < system_.rows; ++r) {
    const double* const row = system_.a.data() + r * columns;
    double residual = -system_.b[r];
    for (std::size_t c = 0; c < columns; ++c) residual += row[c] * x[c];
    for (std::size_t c = 0; c < columns; ++c) gradient[c] += residual * row[c];
    squares += residual * residual;
  }
  return squares / 2;
}

KnownConstants Quadratic::known() const {
  const double largest = Eigen::JacobiSVD<Matrix>(matrix(system_)).singularValues()[0];
  return {.smoothness = largest * largest, .least_loss = loss(optimum())};
}

std::vector<double> Quadratic::optimum() const {
  const Eigen::Map<const Vector> b(system_.b.data(), size(system_.rows));
  const Vector x = matrix(system_).completeOrthogonalDecomposition().solve(b);
  return {x.data(), x.data() + x.size()};
}

}  // namespace dasgd
