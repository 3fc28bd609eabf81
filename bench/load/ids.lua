-- All ids have the same length, so that a request is three strings. lib/ids.ts has the same ids.
local base, prime = 1000000000, 189812507

-- A permutation of 0 .. prime-1: modulo a prime that is 3 modulo 4, only n and -n have the same
-- square. The smaller of the two keeps the square below 2^53.
local function shuffle(n)
  local square = (math.min(n, prime - n) ^ 2) % prime
  if n <= prime / 2 then return square end
  return prime - square
end

function ascending(n) return base + n end
function random(n) return base + shuffle((shuffle(n) + 76543217) % prime) end
