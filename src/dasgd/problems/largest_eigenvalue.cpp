#include "dasgd/problems/largest_eigenvalue.hpp"

#include <Eigen/Eigenvalues>
#include <cmath>
#include <vector>

namespace dasgd {
namespace {

struct Ritz {
  double value = 0;
  double last = 0;  ///< component of its vector: times the next beta, the residual
};

// The largest of the tridiagonal matrix.
Ritz largest_ritz(const std::vector<double>& alpha, const std::vector<double>& beta) {
  const auto size = static_cast<Eigen::Index>(alpha.size());
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver;
  solver.computeFromTridiagonal(Eigen::Map<const Eigen::VectorXd>(alpha.data(), size),
                                Eigen::Map<const Eigen::VectorXd>(beta.data(), size - 1));
  return {solver.eigenvalues()[size - 1], solver.eigenvectors()(size - 1, size - 1)};
}

}  // namespace

double largest_eigenvalue(
    std::size_t dimension,
    const std::function<void(std::span<const double>, std::span<double>)>& product,
    double tolerance, int rounds) {
  using Vector = Eigen::VectorXd;
  const auto size = static_cast<Eigen::Index>(dimension);
  Vector v(size), before = Vector::Zero(size), image(size);
  for (Eigen::Index i = 0; i < size; ++i) v[i] = 1.0 + 0.5 * std::sin(static_cast<double>(i));
  v.normalize();
  std::vector<double> alpha, beta;
  for (int round = 0; round < rounds; ++round) {
    product({v.data(), dimension}, {image.data(), dimension});
    if (round > 0) image -= beta.back() * before;
    alpha.push_back(v.dot(image));
    image -= alpha.back() * v;
    const double next = image.norm();
    // Solving costs more than a product where the matrix is small.
    const bool look = round < 16 || round % 8 == 0 || round + 1 == rounds;
    if (look || next == 0) {
      const Ritz found = largest_ritz(alpha, beta);
      if (next * std::fabs(found.last) <= tolerance * found.value) return found.value;
    }
    beta.push_back(next);
    before = v;
    v = image / next;
  }
  beta.pop_back();
  return largest_ritz(alpha, beta).value;
}

}  // namespace dasgd
