-- Ids are of one width, so that a request is three strings put together. lib/ids.ts says the same.
local base, prime = 1000000000, 189812507

-- A shuffle of 0 .. prime-1: the squares of a prime that is 3 modulo 4 repeat only as n and -n.
-- The smaller of the two keeps the square below 2^53.
local function shuffle(n)
  local square = (math.min(n, prime - n) ^ 2) % prime
  if n <= prime / 2 then return square end
  return prime - square
end

function ascending(n) return base + n end
function random(n) return base + shuffle((shuffle(n) + 76543217) % prime) end
