gml 1
# A metric is one number; bool and i32 become f32; its weight is 1 without data, else the rows of the launch (which
# test_batches.sh looks at).
#! launch q 3
#! launch p 1
phase q {
    metric half = q.step % 2 == 0
    metric count = q.step
    metric total = q.step using sum
    metric top = q.step using max
    metric low = q.step + 3 using min
    metric last = q.step using last
    metric real = 0.5 * f32(q.step)
    metric fixed = 3
}
phase p {
    output half = q.half  #= f32[]: 1
    output count = q.count  #= f32[]: 2
    output total = q.total  #= f32[]: 2
    output top = q.top  #= f32[]: 2
    output low = q.low  #= f32[]: 5
    output last = q.last  #= f32[]: 2
    output real = q.real  #= f32[]: 1
    output fixed = q.fixed  #= f32[]: 3
}
