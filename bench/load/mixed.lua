-- wrk -s mixed.lua URL -- TOKEN LOW HIGH MARGIN
-- Plants LOW .. HIGH-1 exist. Of 20 requests 4 create at HIGH, 4 delete at LOW (so that the store
-- keeps its size), 8 read, 1 lists and 3 replace. MARGIN plants at both ends are left alone:
-- requests for them may be in flight.
local folder = debug.getinfo(1, 'S').source:match('@(.*/)')
dofile(folder .. 'report.lua')
dofile(folder .. 'ids.lua')

local kinds = {
  'read', 'create', 'read', 'delete', 'replace', 'read', 'create', 'read', 'delete', 'list',
  'read', 'create', 'read', 'delete', 'replace', 'read', 'create', 'read', 'delete', 'replace',
}
local headers, margin, turn, at
-- Globals, so that `counters` can read them from the thread.
low, high = 0, 0

local thread
function setup(t) thread = t end
function counters() return thread:get('low') .. ' ' .. thread:get('high') end

function init(args)
  headers = ' HTTP/1.1\r\nHost: ' .. wrk.host .. ':' .. wrk.port
    .. '\r\nAuthorization: Bearer ' .. args[1] .. '\r\n'
  low, high, margin = tonumber(args[2]), tonumber(args[3]), tonumber(args[4])
  -- wrk makes one request that it never sends; this one is a read.
  turn, at = -1, 0
end

local function without(method, path) return method .. ' ' .. path .. headers .. '\r\n' end

local function with(method, path, body)
  return method .. ' ' .. path .. headers .. 'Content-Type: application/json\r\nContent-Length: '
    .. #body .. '\r\n\r\n' .. body
end

local function plant(id)
  return string.format('{"id":%d,"name":"Monstera deliciosa %d","tag":"aroid"}', id, turn)
end

function request()
  turn = turn + 1
  local kind = kinds[turn % #kinds + 1]
  if kind == 'create' then
    high = high + 1
    return with('POST', '/plants', plant(ascending(high - 1)))
  end
  if kind == 'delete' then
    low = low + 1
    return without('DELETE', string.format('/plants/%d', ascending(low - 1)))
  end
  at = (at + 7919) % (high - low - 2 * margin)
  local id = ascending(low + margin + at)
  if kind == 'read' then return without('GET', string.format('/plants/%d', id)) end
  if kind == 'replace' then return with('PUT', string.format('/plants/%d', id), plant(id)) end
  return without('GET', string.format('/plants?limit=100&after=%d', id))
end
