gml 1
import rl
import envs
## One `done` in place of the two ways in which an episode ends.
config N: dim = 4
let env = rl.Vector{envs.CartPole{}, N}
let ring = rl.Ring{(o: f32[4], a: i32, reward: f32, done: bool), 100, N}
fn value(o: f32[..S, 4]) -> f32[..S] = sum(o, axis = -1)
phase collect {
    let r = scan (t in 0..8) {
        let o = env.obs()
        let e = env(rand.int([N], 2))
        ring.push((o = o, a = rand.int([N], 2), reward = e.reward, done = e.done))
        yield v = value(o), reward = e.reward, done = e.done, both = e
    }
    output one = rl.gae(r.v, (reward = r.reward, done = r.done), value, env.obs(), 0.99, 0.95)
    output two = rl.advantages(r.reward, r.done, r.v, r.v, 0.99, 0.95)
    output right = rl.gae(r.v, r.both, value, env.obs(), 0.99, 0.95)
}
phase learn {
    let s = rl.nstep(ring, iota(4), iota(4), 3, 0.99)
    output y = s.R
}
run { collect; learn }
