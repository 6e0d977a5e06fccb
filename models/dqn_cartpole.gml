gml 1
## Deep Q-learning on CartPole: a replay ring with priorities, returns over several steps, a target network that follows, double
## and dueling values. Mnih et al. 2015; van Hasselt et al. 2016; Wang et al. 2016; Schaul et al. 2016.
import nn
import opt
import rl
import envs

config N: dim    = 8                             # environments
config rows: dim = 6400                          # the ring: rows N transitions
config M: dim    = 128                           # rows of a batch
config warm      = 125                           # steps of all environments before learning
config rounds    = 62375                         # 500,000 steps of the environments with the first ones
config nstep     = 3
config gamma     = 0.99
config lr        = 5e-4
config tau       = 0.005
config H         = 128

layer Q{n: dim, H: dim}(x: f32[B, O]) -> f32[B, n] {
    let h = x |> a: nn.Linear{H} |> relu |> b: nn.Linear{H} |> relu
    let v = h |> value: nn.Linear{1}
    return rl.dueling(v[:, 0], h |> advantage: nn.Linear{n})
}
let core   = envs.CartPole{}
let env    = rl.Vector{core, N}
let games  = rl.Returns{}
let q      = Q{core.A, H}
let target = frozen(q)
let ring   = rl.Ring{(o: f32[core.O], a: i32, reward: f32, terminated: bool, truncated: bool, final_obs: f32[core.O]), rows, N}
let per    = rl.Priority{rows, N}

phase act {                                      # one step of all environments
    let o   = env.obs()
    let eps = opt.linear(1.0, 0.05, 25000.0, f32(act.step) * N)
    let a   = rl.egreedy(q(o), eps)
    let e   = env(a)
    ring.push((o = o, a = a, reward = e.reward, terminated = e.terminated, truncated = e.truncated, final_obs = e.final_obs))
    per.pushed(ring.head, nstep)                 # reads are old: head is the row being written
    games.note(e)
    metric episode_return = games.mean_return() using last
}
phase learn {
    let s  = per.sample(M)
    let t  = rl.nstep(ring, s.ix // N, s.ix % N, nstep, gamma)
    let w  = rl.importance(s.p, f32(ring.fill * N), opt.linear(0.4, 1.0, f32(steps)))
    let y  = t.R + t.G * rl.double_value(q(t.next), target(t.next))
    let td = stop_grad(y) - pick(q(t.o), t.a)
    minimize loss = mean(w * nn.huber(td)) over q using opt.adam{opt.cosine(lr), clip = 10.0}
    per.update(s.ix, abs(td))
    metric q_mean = mean(y) using last
}
phase track { next target = lerp(target, q, tau) }
phase eval {                                     # 100 greedy episodes side by side
    let r = scan (t in 0..core.limit; s = core.start(100), g = zeros([100]), live = ones([100])) {
        let e = core.move(s, argmax(q(core.obs(s))))
        next s    = e.s
        next g    = g + live * e.reward
        next live = live * (1 - f32(e.terminated))
    }
    metric score = mean(r.g)
}
run {
    act for warm steps
    repeat (rounds) {
        act
        learn
        track
        every 2500 rounds {
            eval
            save best eval.score
        }
    }
}
