/* models/std/rl.gml, envs.gml and what kan.gml refits in f64 on the CPU against numbers computed from the
 * published equations: steps of the environments (Gymnasium's dynamics), losses, targets and priorities. The
 * numbers have 9 decimals or more, so the tolerance is 2e-9 of max(1, |value|) where a case does not say
 * another. */
#include "tests/std/golden.h"

enum { MOST = 40 };
static const struct check {
    const char *what, *text; /* after the imports; the phases in `launches` run, then output r of phase p */
    const char *launches;    /* phases to run before the last launch of p, one letter each */
    int n;
    double want[MOST];
    double tolerance; /* 0: 2e-9 */
} checks[] = {
    /* -- environments */
    {"CartPole: the first step",
     "let env = envs.CartPole{}\n"
     "fn begin() = (x = tensor([0.01]), v = tensor([-0.02]), th = tensor([0.03]), w = tensor([0.04]))\n"
     "phase p {\n    let e = env.move(begin(), tensor([1]))\n"
     "    output r = concat(env.obs(e.s)[0], e.reward, f32(e.terminated))\n}\n",
     "",
     6,
     {0.0096, 0.174679196, 0.0308, -0.243068718, 1, 0},
     0},
    {"CartPole: five steps",
     "let env = envs.CartPole{}\n"
     "phase p {\n"
     "    let s = (x = tensor([0.01]), v = tensor([-0.02]), th = tensor([0.03]), w = tensor([0.04]))\n"
     "    for (a in [1, 1, 0, 1, 0]) { s = env.move(s, tensor([a])).s }\n    output r = env.obs(s)[0]\n}\n",
     "",
     4,
     {0.03133334, 0.173494993, 0.000659958, -0.216812868},
     0},
    {"CartPole: always right from rest ends with step 9",
     "let env = envs.CartPole{}\n"
     "phase p {\n    let z = zeros([1])\n    let s = (x = z, v = z, th = z, w = z)\n    let ends = z\n"
     "    for (i in 0..9) {\n        let e = env.move(s, tensor([1]))\n        s = e.s\n"
     "        ends = concat(ends, f32(e.terminated))\n    }\n    output r = concat(ends[8:], s.th)\n}\n",
     "",
     3,
     {0, 1, -0.21518605},
     0},
    {"Acrobot: four steps",
     "let env = envs.Acrobot{}\n"
     "phase p {\n    let s = (a = tensor([0.05]), b = tensor([-0.05]), da = tensor([0.02]), db = "
     "tensor([-0.03]))\n"
     "    s = env.move(s, tensor([2])).s\n    let first = stack([s.a, s.b, s.da, s.db], axis = -1)[0]\n"
     "    for (a in [2, 0, 2]) { s = env.move(s, tensor([a])).s }\n"
     "    output r = concat(first, stack([s.a, s.b, s.da, s.db], axis = -1)[0])\n}\n",
     "",
     8,
     {0.033550635, -0.011643325, -0.179707314, 0.403944227, -0.082553672, 0.23391, -0.107371746, 0.222293692},
     0},
    {"MountainCar: by the sign of the speed it is there after 124 steps; the wall",
     "let env = envs.MountainCar{}\n"
     "phase p {\n    let s = (p = tensor([-0.5]), v = tensor([0.0]))\n    let first = zeros([2])\n"
     "    let ends = zeros([0])\n    for (i in 0..124) {\n"
     "        let e = env.move(s, where(s.v >= 0, 2, 0))\n        s = e.s\n        if (i == 0) { first = "
     "env.obs(s)[0] }\n"
     "        if (i > 121) { ends = concat(ends, f32(e.terminated), e.reward) }\n    }\n"
     "    let w = env.move((p = tensor([-1.19]), v = tensor([-0.05])), tensor([0]))\n"
     "    output r = concat(first, ends, env.obs(w.s)[0])\n}\n",
     "",
     8,
     {-0.499176843, 0.000823157, 0, -1, 1, -1, -1.2, 0},
     0},
    {"Pendulum: three steps",
     "let env = envs.Pendulum{}\n"
     "phase p {\n    let s = (th = tensor([3.0]), w = tensor([0.5]))\n    let rewards = zeros([0])\n"
     "    for (u in [1.0, -3.0, 0.5]) {\n        let e = env.move(s, tensor([[u]]))\n        s = e.s\n"
     "        rewards = concat(rewards, e.reward)\n    }\n    output r = concat(rewards, s.th, s.w)\n}\n",
     "",
     5,
     {-9.026, -9.289309649, -9.419691197, 3.097786328, 0.666335783},
     0},
    {"Trade: four trades with fees and half the spread",
     "let mid = tensor([[100.0], [102.0], [101.0], [99.0], [100.0]])\n"
     "let env = envs.Trade{mid, zeros([5, 1, 1]), W = 1, horizon = 4}\n"
     "phase p {\n    let s = (t = tensor([0]), k = tensor([0]), cash = tensor([1e4]), q = zeros([1, 1]), "
     "peak = "
     "tensor([1e4]))\n    let all = zeros([0])\n    let sum = 0.0\n    for (a in [4, 3, 1, 2]) {\n"
     "        let e = env.move(s, tensor([[a]]))\n        s = e.s\n"
     "        all = concat(all, s.q[0], s.cash, env.equity(s, s.t))\n        sum = sum + e.reward\n    }\n"
     "    output r = concat(all, sum, f32(s.k), f32(s.t))\n}\n",
     "",
     15,
     {100, -15.005, 10184.995, 49.926446, 5084.8388, 10127.409854, -50.135692, 15175.96042, 10212.526878, 0,
      10205.079246, 10205.079246, 0.02030046862, 4, 4},
     2e-8},
    {"Trade: what is seen are rows up to now, then the account",
     "let mid = tensor([[90.0], [95.0], [99.0], [100.0], [7.0]])\n"
     "let env = envs.Trade{mid, reshape(f32(iota(10)), [5, 1, 2]), W = 2, horizon = 4}\n"
     "phase p {\n    let s = (t = tensor([3]), k = tensor([1]), cash = tensor([500.0]), q = tensor([[5.0]]), "
     "peak = tensor([1250.0]))\n"
     "    output r = env.obs(s)[0]\n}\n",
     "",
     8,
     {4, 5, 6, 7, 0.5, 0.5, 0.2, 0.75},
     0},
    {"random actions: CartPole lasts 22.24 steps; by the sign of the speed MountainCar takes 119.4",
     "let cart = rl.Vector{envs.CartPole{}, 256}\nlet core = envs.MountainCar{}\n"
     "phase p {\n    let r = scan (t in 0..500) { yield e = cart(rand.int([256], 2)) }\n"
     "    let m = scan (t in 0..200; s = core.start(256), g = zeros([256]), live = ones([256])) {\n"
     "        let e = core.move(s, where(s.v >= 0, 2, 0))\n        next s = e.s\n        next g = g + live * "
     "e.reward\n"
     "        next live = live * (1 - f32(e.terminated))\n    }\n"
     "    output r = stack([mean(r.e.total, where = r.e.done), mean(m.g), sum(m.live)])\n}\n",
     "",
     3,
     {22.24, -119.4, 0},
     0.02},
    {"random actions: CartPole's lengths deviate by 11.84; Acrobot gives -498.9, Pendulum -1228.4",
     "let cart = rl.Vector{envs.CartPole{}, 256}\nlet bot = envs.Acrobot{}\nlet arm = envs.Pendulum{}\n"
     "phase p {\n    let r = scan (t in 0..500) { yield e = cart(rand.int([256], 2)) }\n"
     "    let b = scan (t in 0..500; s = bot.start(512), g = zeros([512]), live = ones([512])) {\n"
     "        let e = bot.move(s, rand.int([512], 3))\n        next s = e.s\n        next g = g + live * "
     "e.reward\n"
     "        next live = live * (1 - f32(e.terminated))\n    }\n"
     "    let w = scan (t in 0..200; s = arm.start(1024), g = zeros([1024])) {\n"
     "        let e = arm.move(s, rand.uniform([1024, 1], -2, 2))\n        next s = e.s\n        next g = g "
     "+ "
     "e.reward\n    }\n"
     "    output r = stack([std(r.e.total, where = r.e.done), mean(b.g), mean(w.g), 1 - mean(b.live)])\n}\n",
     "",
     4,
     {11.84, -498.9, -1228.4, 0.0158},
     0.01},
    /* -- policy gradients */
    {"clipped objective, KL, share of clipped ratios",
     "phase p {\n    let a = tensor([1.0, -2.0, 0.5, 3.0])\n    let l = tensor([0.3, -0.1, -0.5, 0.05])\n"
     "    let z = (a - mean(a)) / (std(a) + 1e-8)\n"
     "    output r = stack([rl.clipped_loss(rl.standardize(a), l), rl.clipped_loss(z, l), rl.kl(l), "
     "rl.clip_fraction(l)])\n}\n",
     "",
     4,
     {-0.0573270187, -0.0661955393, 0.0406244954, 0.5},
     0},
    {"clipped value: the larger of both errors",
     "phase p { output r = rl.clipped_value(tensor([1.0, 2.0]), tensor([0.5, 2.1]), tensor([1.2, 2.5]))[_] "
     "}\n",
     "",
     1,
     {0.125},
     0},
    {"advantages: termination, truncation, both",
     "fn at(x) = tensor(x)[:, _]\n"
     "phase p {\n    let r = at([1.0, 1.0, 1.0, 1.0, 1.0, 1.0])\n    let v = at([0.5, 0.6, 0.7, 0.4, 0.3, "
     "0.2])\n"
     "    let after = at([0.6, 0.7, 2.0, 0.3, 99.0, 0.9])\n    let t = at([0, 0, 0, 0, 1, 0]) == 1\n    let "
     "c = at([0, 0, 1, 0, 0, 0]) == 1\n"
     "    let a = rl.advantages(r, t, c, v, after, 0.99, 0.95)\n    let b = rl.advantages(r, t or c, t and "
     "c, v, after, 0.99, 0.95)\n"
     "    let one = tensor([[1.0]])\n    let yes = one == 1\n"
     "    output r = concat(a[:, 0], (a + v)[:, 0], b[0:3, 0], rl.advantages(one, yes, yes, 0.5 * one, 9 * "
     "one, 0.99, 0.95)[0])\n}\n",
     "",
     16,
     {4.1387183, 3.23734, 2.28, 1.55535, 0.7, 1.691, 4.6387183, 3.83734, 2.98, 1.95535, 1, 1.891, 2.3873286,
      1.37515, 0.3, 0.5},
     5e-8},
    {"a rollout: successors before restarts, the value of the last observation",
     "layer Short{} {\n    let limit = 3\n    fn start(n) = (x = zeros([n]))\n    fn obs(s) = stack([s.x], "
     "axis = -1)\n"
     "    fn move(s, a) {\n        let z = (x = s.x + f32(a))\n        return (s = z, reward = z.x, "
     "terminated = z.x >= 4)\n    }\n}\n"
     "let env = rl.Vector{Short{}, 2}\nfn value(o) = 10 * o[.., 0]\n"
     "phase p {\n    let r = scan (t in 0..5) {\n        let o = env.obs()\n        yield v = value(o), e = "
     "env(tensor([1, 2]))\n    }\n"
     "    let a = rl.gae(r.v, r.e, value, env.obs(), 0.5, 0.5)\n"
     "    output r = concat(flatten(r.v, 0, -1), flatten(f32(r.e.terminated), 0, -1), "
     "flatten(f32(r.e.truncated), 0, -1), a[4], a[2])\n}\n",
     "",
     34,
     {0, 0,  10, 20, 20, 0, 0, 20, 10, 0, /* v, by time */
      0, 0,  0,  1,  0,  0, 0, 1,  0,  0, /* environment 1 reaches 4 with its second step */
      0, 0,  0,  0,  1,  0, 0, 0,  0,  0, /* environment 0 its limit with the third */
      2, 12, -2, 8},
     1e-12},
    /* -- values of actions */
    {"branches: dueling values, one target, errors",
     "phase p {\n    let a = tensor([[[1.0, 2.0, 3.0], [0.0, -1.0, 4.0]]])\n    let q = "
     "rl.dueling(tensor([[1.0, 1.0]]), a)\n"
     "    let y = rl.branch_target(tensor([0.5]), tensor([0.9]), tensor([[[0.0, 5.0, 1.0], [2.0, 1.0, "
     "0.0]]]), "
     "tensor([[[10.0, 20.0, 30.0], [1.0, 2.0, 3.0]]]))\n"
     "    let td = y[:, _] - pick(q, tensor([[2, 1]]))\n"
     "    output r = concat(flatten(q, 0, -1), y, td[0], mean(td^2)[_], sum(abs(td))[_])\n}\n",
     "",
     11,
     {0, 1, 2, 0, -1, 4, 9.95, 7.95, 10.95, 91.5525, 18.9},
     0},
    {"priorities: places, probabilities and weights; none is no priority; rows in the making",
     "let per = rl.Priority{6, 1, eps = 0.0, block = 3}\n"
     "phase s { per.update(iota(6), tensor([0.5, 0.0, 2.0, 1.0, 0.25, 0.0])) }\n"
     "phase p {\n    let s = per.draw((f32(iota(4)) + 0.5) / 4)\n"
     "    output r = concat(f32(s.ix), rl.importance(s.p, 5.0, 0.4), s.p, flatten(per.leaf, 0, -1), "
     "sum(per.mid)[_], "
     "per.top[_])\n}\n",
     "s",
     20,
     {0,         2,          3,          3,          1,          0.7169776, 0.8467453,
      0.8467453, 0.18271958, 0.41977936, 0.27695109, 0.27695109, 0.6597540, 0,
      1.5157166, 1,          0.4352753,  0,          3.6107458,  1.5157166},
     5e-8},
    {"priorities stay where the error is no number, and of rows in the making",
     "let per = rl.Priority{6, 1, eps = 0.0, block = 3}\n"
     "phase s { per.update(iota(6), tensor([0.5, 0.0, 2.0, 1.0, 0.25, 0.0])) }\n"
     "phase t { per.update(tensor([2, 3]), sqrt(tensor([-1.0, 16.0]))) }\nphase v { per.pushed(5, 2) "
     "}\nphase u { per.pushed(0, 2) }\n"
     "phase p { output r = concat(flatten(per.leaf, 0, -1), sum(per.mid)[_], per.top[_]) }\n",
     "stvu",
     8,
     {0, 0, 1.5157166, 2.2973967, 0.4352753, 2.2973967, 6.5457853, 2.2973967},
     5e-8},
    {"returns over three steps: ends inside the window, the true successor, a ring that went round",
     "let ring = rl.Ring{(o: f32[1], a: i32, reward: f32, terminated: bool, truncated: bool, final_obs: "
     "f32[1]), 5, 1}\n"
     "state k: i32 = 0\nphase s {\n    let t = i32(zeros([1])) + k\n    let r = tensor([1.0, 2.0, 4.0, 8.0, "
     "16.0, 32.0])\n"
     "    ring.push((o = f32(t)[:, _], a = t, reward = r[t], terminated = t == 2, truncated = t == 4, "
     "final_obs = f32(t + 1)[:, _]))\n"
     "    next k = k + 1\n}\n"
     "phase p {\n    let s = rl.nstep(ring, tensor([1, 2, 3]), i32(zeros([3])), 3, 0.9)\n"
     "    output r = concat(s.R, s.G, s.next[:, 0], s.o[:, 0], f32(s.a), f32(stack([ring.head, "
     "ring.fill])))\n}\n",
     "ssssss",
     17,
     {5.6, 4, 22.4, 0, 0, 0.81, 3, 3, 5, 1, 2, 3, 1, 2, 3, 1, 5},
     0},
    {"returns over three steps: a ring that still has the first",
     "let ring = rl.Ring{(o: f32[1], a: i32, reward: f32, terminated: bool, truncated: bool, final_obs: "
     "f32[1]), 8, 1}\n"
     "state k: i32 = 0\nphase s {\n    let t = i32(zeros([1])) + k\n    let r = tensor([1.0, 2.0, 4.0, 8.0, "
     "16.0, 32.0])\n"
     "    ring.push((o = f32(t)[:, _], a = t, reward = r[t], terminated = t == 2, truncated = t == 4, "
     "final_obs = f32(t + 1)[:, _]))\n"
     "    next k = k + 1\n}\n"
     "phase p {\n    let s = rl.nstep(ring, iota(4), i32(zeros([4])), 3, 0.9)\n"
     "    output r = concat(s.R, s.G, s.next[:, 0])\n}\n",
     "ssssss",
     12,
     {6.04, 5.6, 4, 22.4, 0, 0, 0, 0.81, 3, 3, 3, 5},
     0},
    {"a ring and its priorities, 20 steps long: what may begin a window of three, and exact sums of blocks",
     "let ring = rl.Ring{f32, 8, 2}\nlet per = rl.Priority{8, 2, block = 4}\nstate k: i32 = 0\nstate bad: "
     "i32 = "
     "0\n"
     "phase s {\n    ring.push(f32(zeros([2])) + f32(k))\n    per.pushed(ring.head, 3)\n    next k = k + "
     "1\n}\n"
     "phase c {\n    let t = k - 1\n    let held = t - (t - iota(8)) % 8            # the step that a row "
     "holds\n"
     "    let valid = held >= 0 and held + 2 <= t\n"
     "    let has = flatten(per.leaf, 0, 1) > 0\n    let want = flatten(transpose(stack([valid, valid])), 0, "
     "1)\n"
     "    let rows = where(held >= 0, f32(held), 0)\n"
     "    next bad = bad + sum(has != want) + sum(per.mid != sum(per.leaf, axis = 1)) + sum(ring.buf[:, 0] "
     "!= rows)\n"
     "}\n"
     "phase p { output r = f32(stack([bad, k])) }\n",
     "scscscscscscscscscscscscscscscscscscscsc",
     2,
     {0, 20},
     0},
    {"priorities in two levels are one long sum; none of probability 0 is drawn",
     "let per = rl.Priority{64, 4, block = 16}\nphase s { per.update(rand.int([32], 256), "
     "rand.uniform([32])) }\n"
     "phase p {\n    let u = rand.uniform([2000])\n    let all = flatten(per.leaf, 0, 1)\n    let ix = "
     "per.draw(u).ix\n"
     "    output r = f32(stack([sum(ix != search(cumsum(all), u * sum(all))), sum(all[ix] <= 0)]))\n}\n",
     "ssssss",
     2,
     {0, 0},
     0},
    {"splines refitted: the same function, also with columns that hardly vary, and knots that ascend",
     "let net = kan.Layer{3, 4}\nphase a { output y = net(zeros([1, 3])) }\nphase s { next net.spl = 0.3 * "
     "rand.normal(shape(net.spl)) }\n"
     "fn some() = rand.uniform([512, 3], -1, 1)\n"
     "fn flat(x) = stack([0 * x[:, 0], max(x[:, 1], 0), x[:, 2]], axis = 1)\n"
     "state off: f32[2] = 0\n"
     "phase t {\n    let x = some()\n    let y = net(x)\n    next off[0] = sqrt(sum((net.refit(x) - y)^2) / "
     "sum(y^2))\n}\n"
     "phase u {\n    let x = flat(some())\n    next off[1] = f32(sum(not isfinite(net.refit(x))))\n}\n"
     "phase p {\n    let g = net.grid\n    let y = net(flat(some()))\n"
     "    output r = f32(stack([off[0] < 0.05, off[0] > 0, off[1] == 0, min(g[:, 1:] - g[:, :-1]) > 0, "
     "all(isfinite(y)), all(isfinite(net.spl))]))\n}\n",
     "astu",
     6,
     {1, 1, 1, 1, 1, 1},
     0},
    {"noise on weights: products of squashed draws",
     "phase p {\n    let ei = nn.squash(tensor([0.25, -1.0]))\n    let eo = nn.squash(tensor([4.0, -0.09]))\n"
     "    output r = concat(flatten(nn.noise_part(eye(2), ones([2, 2]), zeros([2]), ei, eo), 0, -1), "
     "nn.noise_part(zeros([1, 2]), ones([2, 2]), ones([2]), ei, eo)[0])\n}\n",
     "",
     6,
     {1, -0.15, -2, 0.3, 2, -0.3},
     0},
    {"area under the curve over two launches",
     "let roc = nn.AUC{}\nphase s { roc.note(tensor([2.0, -1.0]), tensor([1.0, 0.0])) }\n"
     "phase t { roc.note(tensor([0.5, 0.0]), tensor([0.0, 1.0])) }\nphase p { output r = stack([roc.value(), "
     "sum(roc.ones)]) }\n",
     "st",
     2,
     {0.75, 2},
     0},
    {"and forgotten",
     "let roc = nn.AUC{}\nphase s { roc.note(tensor([2.0, -1.0]), tensor([1.0, 0.0])) }\nphase c { "
     "roc.clear() }\n"
     "phase p { output r = stack([roc.value(), sum(roc.ones)]) }\n",
     "sc",
     2,
     {0.5, 0},
     0},
    {"an average follows what an optimizer returns",
     "layer Net() {\n    param w: f32[2] = 1\n    return w\n}\nlet net = Net{}\nlet slow = frozen(net)\n"
     "phase s { minimize l = sum(net()^2) over net using opt.averaged{opt.sgd{0.1}, slow, 0.5} }\n"
     "phase p { output r = concat(net(), slow()) }\n",
     "sss",
     4,
     {0.512, 0.512, 0.641, 0.641},
     0},
    /* -- environments side by side: three steps to the right from chosen states, time limit 2 */
    {"truncation is not termination: limits, restarts, the observation before",
     "layer Short{} {\n    let limit = 2\n    fn start(n) = (x = zeros([n]))\n    fn obs(s) = stack([s.x], "
     "axis = -1)\n"
     "    fn move(s, a) {\n        let z = (x = s.x + f32(a))\n"
     "        return (s = z, reward = z.x, terminated = z.x >= 3)\n    }\n}\n"
     "let env = rl.Vector{Short{}, 3}\nlet games = rl.Returns{4}\n"
     "phase p {\n    let e = env(tensor([1, 3, 2]))\n    games.note(e)\n"
     "    output r = concat(e.reward, f32(e.terminated), f32(e.truncated), e.final_obs[:, 0], e.total, "
     "f32(e.done), "
     "env.s.x, games.mean_return()[_], f32(games.ends)[_])\n}\n",
     "p",
     23,
     {2, 3, 4, 0, 1, 1, 1, 0, 0, 2, 3, 4, 3, 3, 6, 1, 1, 1, 1, 0, 2, 3, 1},
     0},
    {"running mean and variance of two rollouts",
     "let norm = rl.Running{2, limit = 1.5}\n"
     "fn rows(k) = stack([f32(iota(4)) + k, 2 * f32(iota(4)) - 3 * k], axis = -1)\n"
     "phase a { norm.learn(rows(1)) }\nphase b { norm.learn(rows(2)) }\n"
     "phase p { output r = concat(norm.mu, norm.s2, norm(tensor([[3.0, 90.0]]))[0]) }\n",
     "ab",
     6,
     {2.9999625004687442, -1.4999812502343721, 1.5001062472656768, 7.2499500002734388, 3.061715464e-5, 1.5},
     1e-7},
    {"minibatches of a round hold every row once",
     "state k: i32 = 0\nstate seen: f32[12] = 0\n"
     "phase p {\n    let ix = rl.minibatch(12, 4, k)\n    next seen = put_add(seen, ix, ones([4]))\n    next "
     "k = k + 1\n"
     "    output r = seen\n}\n",
     "pppppp",
     12,
     {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2},
     0},
};

START_TEST(numbers_are_those_of_the_equations)
{
    const struct check *c = &checks[_i];
    char text[4096], phase[2] = "";
    struct program p;
    snprintf(text, sizeof text, "gml 1\nimport rl\nimport envs\nimport nn\nimport kan\nimport opt\n%s",
             c->text);
    start_f64(&p, text);
    for (const char *l = c->launches; *l; l++) {
        phase[0] = *l;
        launch(&p, phase);
    }
    launch(&p, "p");
    ck_assert_msg(output_size(&p, "p", "r") == c->n, "%s: %d numbers, expected %d", c->what,
                  (int)output_size(&p, "p", "r"), c->n);
    for (int i = 0; i < c->n; i++) {
        double got = output_at(&p, "p", "r", i);
        ck_assert_msg(is_near(got, c->want[i], c->tolerance ? c->tolerance : 2e-9),
                      "%s: number %d is %.15g, expected %.12g", c->what, i, got, c->want[i]);
    }
    finish(&p);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("learning");
    tcase_add_loop_test(t, numbers_are_those_of_the_equations, 0, (int)(sizeof checks / sizeof *checks));
    return suite_run("learning", t, CK_NOFORK);
}
