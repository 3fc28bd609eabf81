-- wrk -s create.lua URL -- PATH TOKEN BODY FIRST ORDER
-- A '#' in BODY becomes the id, and a '$' behind it 12 random digits. ORDER is ascending or random; the first id is the FIRSTth of it.
local folder = debug.getinfo(1, 'S').source:match('@(.*/)')
dofile(folder .. 'report.lua')
dofile(folder .. 'ids.lua')

local before, after, behind, n, order

function init(args)
  local body = args[3]
  n = tonumber(args[4]) - 1
  order = args[5] == 'random' and random or ascending
  local at = body:find('#', 1, true)
  local length = at and #body + 9 or #body
  local name = at and body:find('$', at, true)
  if name then length = length + 11 end
  local head = 'POST ' .. args[1] .. ' HTTP/1.1\r\nHost: ' .. wrk.host .. ':' .. wrk.port
    .. '\r\nAuthorization: Bearer ' .. args[2]
    .. '\r\nContent-Type: application/json\r\nContent-Length: ' .. length .. '\r\n\r\n'
  before = head .. (at and body:sub(1, at - 1) or body)
  after = at and body:sub(at + 1, name and name - 1)
  behind = name and body:sub(name + 1)
end

function request()
  if not after then return before end
  n = n + 1
  local start = before .. string.format('%d', order(n)) .. after
  if not behind then return start end
  return start .. string.format('%06d%06d', math.random(0, 999999), math.random(0, 999999)) .. behind
end
