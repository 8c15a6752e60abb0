-- KEYS[1] tells what stands there of the document, KEYS[2] is the tenant's generation. ARGV[1] is
-- the plan, ARGV[2] what is told afterwards, the rest are lists of steps. Nothing stands aside
-- here. Checks first.
local plan = cjson.decode(ARGV[1])

local held = redis.call('GETRANGE', KEYS[1], 0, 63)
held = tonumber(string.match(held, '^{"revision":(%d+)')) or -1
local newest = tonumber(redis.call('HGET', KEYS[2], 'newest') or -1)
if newest > plan.number or held > plan.revision then return 2 end
if held ~= plan.seen then return 3 end

-- Lua hands over a few thousand values at most.
local function in_parts(verb, key, values)
  for first = 1, #values, 1000 do
    redis.call(verb, key, unpack(values, first, math.min(first + 999, #values)))
  end
end

local steps = {
  d = function(key) redis.call('DEL', key) end,
  r = function(key, values) in_parts('SREM', key, values) end,
  h = function(key, values) in_parts('HSET', key, values) end,
  z = function(key, values) in_parts('ZADD', key, values) end,
  t = function(key, values) redis.call('SET', key, values[1]) end,
  o = function(key, values) in_parts('SADD', key, values) end,
  s = function(key, values) in_parts('SADD', key, values) end,
}
for number = 3, #ARGV do
  for _, step in ipairs(cjson.decode(ARGV[number])) do
    steps[step[1]](step[2], step[3])
  end
end

if plan.is_gone then
  redis.call('DEL', KEYS[1])
  redis.call('HDEL', KEYS[2], plan.field)
else
  redis.call('SET', KEYS[1], ARGV[2])
  redis.call('HSET', KEYS[2], plan.field, string.format('%d', plan.revision))
end
redis.call('HSET', KEYS[2], 'newest', string.format('%d', plan.number))
return 1
