-- Load for wrk: the requests of a file (see requests.ts) in turn; at the end one line of JSON on standard output.
-- Call: wrk … -s requests.lua URL -- FILE

local prepared = {}
local position = 0

local function split(line)
  local parts = {}
  for part in (line .. "\t"):gmatch("([^\t]*)\t") do
    parts[#parts + 1] = part
  end
  return parts
end

-- Forty new hex digits. Seeded by the time: two runs must not send the same ones.
local function fresh()
  return string.format(
    "%07x%07x%07x%07x%07x%05x",
    math.random(0, 0xfffffff), math.random(0, 0xfffffff), math.random(0, 0xfffffff),
    math.random(0, 0xfffffff), math.random(0, 0xfffffff), math.random(0, 0xfffff)
  )
end

function init(args)
  math.randomseed(os.time())
  local placeholder = ("f"):rep(40)
  for line in io.lines(args[1]) do
    local method, path, key, idempotency_key, body = unpack(split(line))
    local headers = { ["Authorization"] = "Bearer " .. key }
    if body ~= "" then headers["Content-Type"] = "application/json" end
    if idempotency_key ~= "" then
      headers["Idempotency-Key"] = idempotency_key:gsub("{fresh}", placeholder)
    end
    local text = wrk.format(method, path, headers, body ~= "" and body or nil)
    local first, last = text:find(placeholder, 1, true)
    if first then
      prepared[#prepared + 1] = { text:sub(1, first - 1), text:sub(last + 1) }
    else
      prepared[#prepared + 1] = text
    end
  end
end

function request()
  position = position % #prepared + 1
  local entry = prepared[position]
  if type(entry) == "string" then return entry end
  return entry[1] .. fresh() .. entry[2]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\nRESULT {"requests":%d,"durationMicroseconds":%d,"p50Microseconds":%d,"p99Microseconds":%d,"failures":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    errors.connect + errors.read + errors.write + errors.status + errors.timeout
  ))
end
