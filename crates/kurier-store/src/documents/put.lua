-- KEYS[1] is what keys aside begin with, ARGV[1] for how long they are kept, ARGV[2] a list of
-- steps.
local function in_parts(verb, key, values)
  for first = 1, #values, 1000 do
    redis.call(verb, key, unpack(values, first, math.min(first + 999, #values)))
  end
end

local steps = {
  h = function(key, values) in_parts('HSET', key, values) end,
  z = function(key, values) in_parts('ZADD', key, values) end,
  o = function(key, values) in_parts('SADD', key, values) end,
}
for _, step in ipairs(cjson.decode(ARGV[2])) do
  local key = KEYS[1] .. step[2]
  steps[step[1]](key, step[3])
  redis.call('PEXPIRE', key, ARGV[1])
end
return 1
