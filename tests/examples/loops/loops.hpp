// Loops that ask for a number in each round, as a program writes them first. Each can also realise its state in each
// round: that costs at most as many launches, and the engine promises at most twice as many without it.
#pragma once

#include "oriel/oriel.hpp"

struct Ended {
  int rounds = 0;
  oriel::Tensor result;
};

/// What a loop does with a value of a round: nothing, or realise it.
using Each = void (*)(oriel::Tensor&);

Ended fixed_point(Each each);
Ended conjugate_gradients(Each each);
Ended components(Each each);
Ended particles(Each each);
Ended decoder(Each each);
