#!/usr/bin/env python3
"""Records 20 steps of torch.optim's rules, clipped gradients and schedules, as torch_optim.json.

    python3 tests/data/torch_optim.py tests/data

`start` and `gradients` are the same for all rules: two parameters, (3, 4) and (5), and a gradient of each for every step, in
float64. A case of `rules` is [rule, options, parameters after each step, all elements one after the other]. PyTorch has no
Lion: its steps are those of Algorithm 2 of Chen et al. (2023), in NumPy. `clipped` holds the first gradients, clipped to norm 1
and to values of 0.5. A case of `schedules` is [name, arguments, factors at steps 0, 1, ..]."""
import json
import sys

import numpy as np
import torch

SHAPES = [(3, 4), (5,)]
STEPS = 20


def main(folder):
    rng = np.random.default_rng(51)
    draw = lambda: [np.round(rng.standard_normal(shape), 3) for shape in SHAPES]
    start, gradients = draw(), [draw() for _ in range(STEPS)]
    row = lambda parts: [float(f"{v:.16g}") for part in parts for v in np.asarray(part).ravel()]
    rules = []

    def case(name, options, make, **torch_options):
        parameters = [torch.nn.Parameter(torch.tensor(p)) for p in start]
        rule = make(parameters, **torch_options)
        rows = []
        for step in gradients:
            for p, g in zip(parameters, step):
                p.grad = torch.tensor(g)
            rule.step()
            rows.append(row(p.detach().numpy() for p in parameters))
        rules.append([name, options, rows])

    sgd, adam, adamw, rms = torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW, torch.optim.RMSprop
    case("Sgd", {"rate": 0.1}, sgd, lr=0.1)
    case("Sgd", {"rate": 0.1, "momentum": 0.9, "dampening": 0.2, "weight_decay": 0.01}, sgd, lr=0.1, momentum=0.9,
         dampening=0.2, weight_decay=0.01)
    case("Sgd", {"rate": 0.1, "momentum": 0.9, "nesterov": 1}, sgd, lr=0.1, momentum=0.9, nesterov=True)
    case("Adam", {"rate": 0.01}, adam, lr=0.01)
    case("Adam", {"rate": 0.01, "beta1": 0.8, "beta2": 0.95, "epsilon": 1e-4, "weight_decay": 0.1, "amsgrad": 1}, adam,
         lr=0.01, betas=(0.8, 0.95), eps=1e-4, weight_decay=0.1, amsgrad=True)
    case("AdamW", {"rate": 0.01}, adamw, lr=0.01)
    case("AdamW", {"rate": 0.01, "weight_decay": 0.3, "amsgrad": 1}, adamw, lr=0.01, weight_decay=0.3, amsgrad=True)
    case("RmsProp", {"rate": 0.01}, rms, lr=0.01)
    case("RmsProp", {"rate": 0.01, "alpha": 0.9, "momentum": 0.7, "centered": 1, "weight_decay": 0.1}, rms, lr=0.01,
         alpha=0.9, momentum=0.7, centered=True, weight_decay=0.1)
    case("Adafactor", {"rate": 0.1}, torch.optim.Adafactor, lr=0.1)
    case("Adafactor", {"rate": 0.5, "beta2_decay": -0.5, "epsilon2": 0.01, "clip": 1.3, "weight_decay": 0.1},
         torch.optim.Adafactor, lr=0.5, beta2_decay=-0.5, eps=(None, 0.01), d=1.3, weight_decay=0.1)

    rate, beta1, beta2, decay = 0.01, 0.9, 0.99, 0.1
    parameters, moments = [p.copy() for p in start], [np.zeros(shape) for shape in SHAPES]
    rows = []
    for step in gradients:
        for k, g in enumerate(step):
            direction = np.sign(beta1 * moments[k] + (1 - beta1) * g)
            parameters[k] = parameters[k] - rate * (direction + decay * parameters[k])
            moments[k] = beta2 * moments[k] + (1 - beta2) * g
        rows.append(row(parameters))
    rules.append(["Lion", {"rate": rate, "beta1": beta1, "beta2": beta2, "weight_decay": decay}, rows])

    def with_gradients():
        parameters = [torch.nn.Parameter(torch.tensor(p)) for p in start]
        for p, g in zip(parameters, gradients[0]):
            p.grad = torch.tensor(g)
        return parameters

    clipped = {}
    parameters = with_gradients()
    clipped["norm"] = float(torch.nn.utils.clip_grad_norm_(parameters, 1.0))
    clipped["by_norm"] = row(p.grad.numpy() for p in parameters)
    parameters = with_gradients()
    torch.nn.utils.clip_grad_value_(parameters, 0.5)
    clipped["by_value"] = row(p.grad.numpy() for p in parameters)

    schedules = []

    def schedule(name, arguments, steps, make):
        rule = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
        scheduler, factors = make(rule), []
        for _ in range(steps):
            factors.append(rule.param_groups[0]["lr"])
            rule.step()
            scheduler.step()
        schedules.append([name, arguments, factors])

    of = torch.optim.lr_scheduler
    schedule("cosine", [10, 0.1], 11, lambda rule: of.CosineAnnealingLR(rule, 10, eta_min=0.1))
    schedule("warmup", [5, 0.2], 9, lambda rule: of.LinearLR(rule, start_factor=0.2, total_iters=5))
    schedule("step", [3, 0.5], 10, lambda rule: of.StepLR(rule, 3, gamma=0.5))

    about = ("20 steps of optimisers by PyTorch " + torch.__version__ + " (CPU), of Lion by its paper's algorithm; recorded "
             "by torch_optim.py")
    with open(folder + "/torch_optim.json", "w") as file:
        file.write("{" + json.dumps("about") + ": " + json.dumps(about) + ",\n")
        for key, value in [("start", row(start)), ("gradients", [row(g) for g in gradients]), ("clipped", clipped),
                           ("schedules", schedules)]:
            file.write(json.dumps(key) + ": " + json.dumps(value) + ",\n")
        file.write('"rules": [\n' + ",\n".join(json.dumps(r) for r in rules) + "]}\n")


main(sys.argv[1])
