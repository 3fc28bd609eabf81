-- wrk -s create.lua URL -- PATH TOKEN BODY FIRST
-- A '#' in BODY becomes the id: ids ascend from FIRST, and have the same length.
dofile(debug.getinfo(1, 'S').source:match('@(.*/)') .. 'report.lua')

local before, after, id

function init(args)
  local body = args[3]
  id = tonumber(args[4]) - 1
  local at = body:find('#', 1, true)
  local head = 'POST ' .. args[1] .. ' HTTP/1.1\r\nHost: ' .. wrk.host .. ':' .. wrk.port
    .. '\r\nAuthorization: Bearer ' .. args[2]
    .. '\r\nContent-Type: application/json\r\nContent-Length: ' .. (at and #body + 9 or #body) .. '\r\n\r\n'
  before = head .. (at and body:sub(1, at - 1) or body)
  after = at and body:sub(at + 1)
end

function request()
  if not after then return before end
  id = id + 1
  return before .. string.format('%d', id) .. after
end
