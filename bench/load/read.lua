-- wrk -s read.lua URL -- PATH TOKEN COUNT ORDER [CODING]
-- A '#' in PATH, if there is one, becomes one of the first COUNT ids of ORDER, spread over all of them.
local folder = debug.getinfo(1, 'S').source:match('@(.*/)')
dofile(folder .. 'report.lua')
dofile(folder .. 'ids.lua')

local before, after, count, order, hasId
local n = 0

function init(args)
  local path = args[1]
  count = tonumber(args[3])
  order = args[4] == 'random' and random or ascending
  local at = path:find('#', 1, true)
  hasId = at ~= nil
  at = at or #path + 1
  before = 'GET ' .. path:sub(1, at - 1)
  after = path:sub(at + 1) .. ' HTTP/1.1\r\nHost: ' .. wrk.host .. ':' .. wrk.port
    .. '\r\nAuthorization: Bearer ' .. args[2]
    .. '\r\nAccept-Encoding: ' .. (args[5] or 'identity') .. '\r\n\r\n'
end

function request()
  if not hasId then return before .. after end
  n = (n + 7919) % count
  return before .. string.format('%d', order(n)) .. after
end
