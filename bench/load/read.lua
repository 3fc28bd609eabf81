-- wrk -s read.lua URL -- PATH TOKEN FIRST COUNT
-- A '#' in PATH becomes one of COUNT ids from FIRST on, spread over all of them.
dofile(debug.getinfo(1, 'S').source:match('@(.*/)') .. 'report.lua')

local before, after, first, count
local n = 0

function init(args)
  local at = args[1]:find('#', 1, true)
  first, count = tonumber(args[3]), tonumber(args[4])
  before = 'GET ' .. args[1]:sub(1, at - 1)
  after = args[1]:sub(at + 1) .. ' HTTP/1.1\r\nHost: ' .. wrk.host .. ':' .. wrk.port
    .. '\r\nAuthorization: Bearer ' .. args[2] .. '\r\nAccept-Encoding: identity\r\n\r\n'
end

function request()
  n = (n + 7919) % count
  return before .. string.format('%d', first + n) .. after
end
