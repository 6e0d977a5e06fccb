gml 1
## A GAN in the plane: eight blobs on a circle. Two losses in one phase; `over` says who moves, nothing is detached.
import nn
import opt
import points

config B: dim = 256
config Z      = 8                                # width of the noise
config H      = 128
config lr     = 5e-4
config steps_ = 6000

layer Net{O: dim, H: dim}(x: f32[B, I]) -> f32[B, O] {
    return x |> a: nn.Linear{H} |> nn.leaky_relu(0.2) |> b: nn.Linear{H} |> nn.leaky_relu(0.2) |> c: nn.Linear{H} |> nn.leaky_relu(0.2) |> o: nn.Linear{O}
}
let gen  = Net{2, H}
let disc = Net{1, H}
fn noise(n) = rand.normal([n, Z])

phase train {
    let real = points.blobs(B)
    let fake = gen(noise(B))
    let on_real = disc(real)
    let on_fake = disc(fake)                     # one application serves both losses
    minimize d_loss = mean(nn.bce_with_logits(on_real, 1.0)) + mean(nn.bce_with_logits(on_fake, 0.0)) over disc
        using opt.adam{opt.cosine(lr), b1 = 0.5}
    minimize g_loss = mean(nn.bce_with_logits(on_fake, 1.0)) over gen using opt.adam{opt.cosine(lr), b1 = 0.5}
}
phase eval {
    let fake = gen(noise(1024))
    metric distance = points.energy(fake, points.blobs(1024))
    metric noise    = points.energy(points.blobs(1024), points.blobs(1024))  # what two samples of the truth have
}
phase show {
    output fake = gen(noise(1024)), real = points.blobs(1024)
}
run {
    repeat (steps_ // 500) {
        train for 500 steps
        eval
    }
    save
}
