gml 1
## Proximal policy optimisation on CartPole: roll out, estimate advantages, learn from shuffled minibatches; the environments,
## the rollout and all that follows live on the device.
## Schulman et al. 2017, https://arxiv.org/abs/1707.06347.
import nn
import opt
import rl
import envs

config N         = 8                             # environments
config T         = 32                            # steps of a rollout
config M         = 256                           # rows of a minibatch; N T must be a multiple
config rounds    = 391                           # 100,096 steps of the environments
config epochs    = 20
config lr        = 1e-3
config gamma     = 0.98
config lam       = 0.8
config clip      = 0.2
config ent       = 0.0
config vf        = 0.5
config target_kl = 1e9                           # ends the epochs of a round beyond 1.5 times this

layer Trunk{O: dim, gain = 1.0}(x: f32[..S, I]) -> f32[..S, O] {
    fn hidden(shape, i, o) = nn.orthogonal(shape, i, o, sqrt(2.0))
    fn final(shape, i, o)  = nn.orthogonal(shape, i, o, gain)
    return x |> a: nn.Linear{64, hidden, nn.zero} |> tanh |> b: nn.Linear{64, hidden, nn.zero} |> tanh |> o: nn.Linear{O, final, nn.zero}
}
let core   = envs.CartPole{}
let env    = rl.Vector{core, N}
let actor  = Trunk{core.A, gain = 0.01}
let critic = Trunk{1}
let dist   = rl.Categorical{}
let games  = rl.Returns{}
let per    = N * T / M                           # minibatches of an epoch

fn value(o) = critic(o)[.., 0]

state buf: (o: f32[core.O], a: i32, lp: f32, v: f32, adv: f32, ret: f32)[T, N] = 0
state mb: i32 = 0

phase collect {
    let r = scan (t in 0..T) {
        let o = env.obs()
        let z = actor(o)
        let a = dist.sample(z)
        yield o = o, a = a, lp = dist.logprob(z, a), v = value(o), e = env(a)
    }
    let adv = rl.gae(r.v, r.e, value, env.obs(), gamma, lam)            # after the scan, env.obs() is what it left
    next buf = (o = r.o, a = r.a, lp = r.lp, v = r.v, adv = adv, ret = adv + r.v)
    next mb  = (mb + per - 1) // per * per       # after an early stop: a fresh permutation
    games.note(r.e)
    metric episode_return = games.mean_return() using last
}
phase update {
    let b = flatten(buf, 0, 1)[rl.minibatch(T * N, M, mb)]              # one index takes the minibatch of every field
    let z = actor(b.o)
    let lr_ = clamp(dist.logprob(z, b.a) - b.lp, -20, 20)
    let kl = rl.kl(lr_)
    let pi = rl.clipped_loss(rl.standardize(b.adv), lr_, clip)
    let vl = rl.clipped_value(value(b.o), b.v, b.ret, clip)
    let h  = mean(dist.entropy(z))
    minimize loss = pi + vf * vl - ent * h over actor, critic
        using opt.adam{lr = lr * (1 - (f32(collect.step) - 1) / rounds), eps = 1e-5, clip = 0.5} when kl <= 1.5 * target_kl
    next mb = mb + 1
    metric kl      = kl using last
    metric entropy = h using last
    metric clipped = rl.clip_fraction(lr_, clip)
}
phase eval {                                     # 100 greedy episodes side by side: the environments are a carry, nothing is reset
    let r = scan (t in 0..core.limit; s = core.start(100), g = zeros([100]), live = ones([100])) {
        let e = core.move(s, dist.mode(actor(core.obs(s))))
        next s    = e.s
        next g    = g + live * e.reward
        next live = live * (1 - f32(e.terminated))
    }
    metric score = mean(r.g)
}
run {
    repeat (rounds) {
        collect
        repeat (epochs * per) {
            update
            stop when update.kl > 1.5 * target_kl
        }
        every 50 rounds {
            eval
            save best eval.score
        }
    }
    eval
    save best eval.score
}
