

gml   1
##  Everything a formatter meets.


#a comment without a blank
import nn;import   "tiny.gml"   as  t
config   lr=1e-3 # live
config widths   = [ 256,128 ]#the layers
config	deep:dim=2

layer  Net { n : int , act=relu , }( x:f32[ ..S , I ] )->f32[..S,n]
{

  param w:f32[I,n]~nn.fan_in( I ,n ) tag no_decay , slow
    param bias: f32[n]   = 0
  let h=x@w+bias
    |> act
      |>nn.dropout{ 0.1 }
  if(n>1){h=-h^2} else if (n==1) { h = - h
     }
  else { h=where( not ( h > 0 ) , h [ .. ,0: -1 ] ,h[:,1 : n:2]) }

  for( i in 0 .. n ,k in [1,2] )as part {h=h |> lin : nn.Linear{n}}


  return (if true then h else x)[-1]  # the last
                                      # of them
}
layer Empty{}{ }
data d="x.csv"{
split=(train=0.8,test=0.2)
x:f32[2]=columns("a" .. "c")/2
  y:i32   =field("y")
}
let net=Net{2 , act = tanh}[3] ; let pair = (a=1,b=(c=[],d=none))
fn gae( v , keep=0.9 )=scan ( d in v,k in keep ,reverse=true;a=zeros([2]) ) { next a=d+k*a ; yield y=a
  # the end
  }
phase train on d { split="train",batch = 2 } as s
{
state m : (h:f32[4],c:f32[4])[2]=0
 minimize loss=mean(xent(net[0](s.x),s.y),
 where=s.y!=-1) over net ,
   pair using opt.sgd {lr,momentum=0.9}   when lr>0
  metric state = m.h[0,0] using last; output a = 1 , b = long(
     1,
   [2,
    3],
  )
}
run{repeat(2){train for 3 steps;every 2 rounds{save best(-1)}
  save  "x"
save best -train.loss
  stop when train.loss<=0 }}
