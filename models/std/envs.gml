gml 1
## Environments as expressions, a row for each. Pure: an environment owns nothing; `Vector` of rl.gml holds its state. Each has
##
## `start(n)` the state of n new episodes, a record whose fields have n rows;
## `obs(s)` what the agent sees: f32[n, O];
## `move(s, a)` one step: (s = the next state, reward: f32[n], terminated: bool[n]), before any reset;
## `limit` the steps after which an episode is cut off (truncated, which is not terminated), `O` and `A` the numbers of observations and
## actions.

# ---- classic control, with the equations and constants of Gymnasium (envs/classic_control)

## A pole on a cart. State: place x, speed v, angle th, its speed w; actions 0 left, 1 right: i32[n]. Terminates beyond 2.4 or 12 degrees; 1 for
## every step. Barto, Sutton and Anderson 1983; explicit Euler, limit 500 (CartPole-v1).
layer CartPole{} {
    let limit = 500
    let O = 4
    let A = 2
    fn start(n) {
        let u = rand.uniform([4, n], -0.05, 0.05)
        return (x = u[0], v = u[1], th = u[2], w = u[3])
    }
    fn obs(s) = stack([s.x, s.v, s.th, s.w], axis = -1)
    fn move(s, a) {
        let f   = where(a == 1, 10.0, -10.0)
        let tmp = (f + 0.05 * s.w^2 * sin(s.th)) / 1.1
        let tha = (9.8 * sin(s.th) - cos(s.th) * tmp) / (0.5 * (4.0 / 3 - 0.1 * cos(s.th)^2 / 1.1))
        let xa  = tmp - 0.05 * tha * cos(s.th) / 1.1
        let z   = s + 0.02 * (x = s.v, v = xa, th = s.w, w = tha)       # explicit Euler on the whole record
        return (s = z, reward = ones(shape(z.x)), terminated = abs(z.x) > 2.4 or abs(z.th) > 12 * pi / 180)
    }
}
## Two links, torque on the joint between. State: angles a, b and their speeds; actions 0, 1, 2 for torque -1, 0, 1. -1 for every step but the
## one that lifts the tip above 1, which terminates. Sutton 1996; one Runge-Kutta step of 0.2, limit 500 (Acrobot-v1).
layer Acrobot{} {
    let limit = 500
    let O = 6
    let A = 3
    fn start(n) {
        let u = rand.uniform([4, n], -0.1, 0.1)
        return (a = u[0], b = u[1], da = u[2], db = u[3])
    }
    fn obs(s) = stack([cos(s.a), sin(s.a), cos(s.b), sin(s.b), s.da, s.db], axis = -1)
    fn slope(s, u) {
        let d1 = 0.25 + (1.25 + cos(s.b)) + 2
        let d2 = 1.25 + 0.5 * cos(s.b)
        let p2 = 4.9 * cos(s.a + s.b - pi / 2)
        let p1 = -0.5 * s.db^2 * sin(s.b) - s.da * s.db * sin(s.b) + 14.7 * cos(s.a - pi / 2) + p2
        let b2 = (u + d2 / d1 * p1 - 0.5 * s.da^2 * sin(s.b) - p2) / (1.25 - d2^2 / d1)
        return (a = s.da, b = s.db, da = -(d2 * b2 + p1) / d1, db = b2)
    }
    fn wrap(x) = (x + pi) % (2 * pi) - pi
    fn move(s, a) {
        let u  = f32(a) - 1
        let k1 = slope(s, u)
        let k2 = slope(s + 0.1 * k1, u)          # RK4 in five lines: a record is a vector
        let k3 = slope(s + 0.1 * k2, u)
        let k4 = slope(s + 0.2 * k3, u)
        let y  = s + 0.2 / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        let z  = (a = wrap(y.a), b = wrap(y.b), da = clamp(y.da, -4 * pi, 4 * pi), db = clamp(y.db, -9 * pi, 9 * pi))
        let up = -cos(z.a) - cos(z.a + z.b) > 1
        return (s = z, reward = where(up, 0.0, -1.0), terminated = up)
    }
}
## A car in a valley. State: place p, speed v; actions 0 left, 1 none, 2 right. -1 for every step; terminates at 0.5. Moore 1990, limit 200
## (MountainCar-v0).
layer MountainCar{} {
    let limit = 200
    let O = 2
    let A = 3
    fn start(n) = (p = rand.uniform([n], -0.6, -0.4), v = zeros([n]))
    fn obs(s) = stack([s.p, s.v], axis = -1)
    fn move(s, a) {
        let v = clamp(s.v + (f32(a) - 1) * 0.001 - 0.0025 * cos(3 * s.p), -0.07, 0.07)
        let p = clamp(s.p + v, -1.2, 0.6)
        let w = where(p <= -1.2 and v < 0, 0.0, v)
        return (s = (p = p, v = w), reward = full(shape(p), -1.0), terminated = p >= 0.5 and w >= 0)
    }
}
## A pendulum to be held upright. State: angle th, its speed w; action: torque f32[n, 1], clipped to -2..2. The reward is that of the state before
## the step. Never terminates; limit 200 (Pendulum-v1).
layer Pendulum{} {
    let limit = 200
    let O = 3
    let A = 1
    fn start(n) = (th = rand.uniform([n], -pi, pi), w = rand.uniform([n], -1, 1))
    fn obs(s) = stack([cos(s.th), sin(s.th), s.w], axis = -1)
    fn move(s, a) {                              # a: f32[n, 1], clipped here only
        let u = clamp(a[:, 0], -2, 2)
        let n = (s.th + pi) % (2 * pi) - pi      # % is never negative
        let w = clamp(s.w + (15 * sin(s.th) + 3 * u) * 0.05, -8, 8)
        return (s = (th = s.th + 0.05 * w, w = w), reward = -(n^2 + 0.1 * s.w^2 + 0.001 * u^2), terminated = bool(zeros(shape(n))))
    }
}

# ---- trading

## Holding D assets. mid: f32[M, D] prices and feat: f32[M, D, F] what is seen of them, both constants; a state holds its row t, the steps k,
## cash, the quantities q: f32[n, D] and the largest equity so far. Actions: i32[n, D], one of 2 levels + 1 target weights from -1 to 1 for each asset,
## scaled to a gross of at most `lev`. No look-ahead: it sees rows up to t, trades at mid[t] plus half the spread and the fee, and is valued at
## mid[t + 1]. Reward: log of the growth of the equity, less c_dd times the growth of the drawdown. Terminates at the share `ruin` of e0 or
## the drawdown dd_max; cut off after `horizon` steps.
layer Trade{mid, feat, W: int = 32, horizon: int = 256,
            fee = 1e-3, half = 5e-4, e0 = 1e4, lev = 1.0, ruin = 0.5, dd_max = 0.9, levels: int = 2, c_dd = 0.0} {
    let (M, D) = shape(mid)                      # mid: f32[M, D], feat: f32[M, D, F]
    let limit = horizon
    let F = shape(feat)[-1]
    let O = W * D * F + D + 3
    let A = 2 * levels + 1
    fn start(n) = (t = W + rand.int([n], M - horizon - W - 1), k = i32(zeros([n])), cash = full([n], e0), q = zeros([n, D]), peak = full([n], e0))
    fn equity(s, row) = s.cash + sum(s.q * mid[row], axis = -1)
    fn obs(s) {
        let e   = equity(s, s.t)
        let win = feat[s.t[:, _] - W + 1 + iota(W)]                     # [n, W, D, F]: rows <= t only; gathered, never stored
        let acc = stack([s.cash / e, 1 - e / s.peak, f32(horizon - s.k) / horizon], axis = -1)
        return concat(flatten(win, 1, 3), s.q * mid[s.t] / e[:, _], acc)
    }
    fn move(s, a) {                              # a: i32[n, D], one of A target weights in -1..1 per asset
        let px   = mid[s.t]                      # [n, D]
        let e    = equity(s, s.t)
        let w0   = f32(a - levels) / levels
        let w    = w0 * min(1, lev / max(sum(abs(w0), axis = -1, keep = true), 1e-9))
        let dq   = w * e[:, _] / px - s.q
        let sell = sum(max(-dq, 0) * px * (1 - half) * (1 - fee), axis = -1)
        let cost = sum(max(dq, 0) * px * (1 + half) * (1 + fee), axis = -1)
        let cash = s.cash + sell - cost
        let z    = (t = s.t + 1, k = s.k + 1, cash = cash, q = s.q + dq, peak = s.peak)
        let e1   = equity(z, z.t)
        let peak = max(s.peak, e1)
        let dd   = 1 - e1 / peak
        let r    = log(max(e1, 1e-9) / e) - c_dd * max(0, dd - (1 - e / s.peak))
        return (s = (t = z.t, k = z.k, cash = z.cash, q = z.q, peak = peak), reward = r, terminated = e1 <= ruin * e0 or dd >= dd_max)
    }
}
