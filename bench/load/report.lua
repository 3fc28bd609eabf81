-- The report that wrk prints at the end: one line of JSON, times in microseconds.
function done(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"bytes":%d,"microseconds":%d,"refused":%d,"timeouts":%d,"broken":%d,'
      .. '"p50":%d,"p99":%d,"p999":%d,"max":%d,"counters":"%s"}\n',
    summary.requests, summary.bytes, summary.duration, errors.status, errors.timeout,
    errors.connect + errors.read + errors.write,
    latency:percentile(50), latency:percentile(99), latency:percentile(99.9), latency.max,
    counters and counters() or ''))
end
