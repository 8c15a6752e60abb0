-- KEYS[1] tells what stands there of the document, KEYS[2] is the tenant's generation, KEYS[3]
-- what keys aside begin with. ARGV[1] is the plan, ARGV[2] what is told afterwards. Checks first:
-- what stands aside may be gone again, all of it or a part.
local plan = cjson.decode(ARGV[1])

local held = redis.call('GETRANGE', KEYS[1], 0, 63)
held = tonumber(string.match(held, '^{"revision":(%d+)')) or -1
local newest = tonumber(redis.call('HGET', KEYS[2], 'newest') or -1)
if newest > plan.number or held > plan.revision then return 2 end
if held ~= plan.seen then return 3 end

-- Lua hands over a few thousand values at most. A list of texts has few enough.
local function each(list, act)
  local at = KEYS[3] .. list[1] .. '>' .. list[2]
  if list[1] == 't' then return act(redis.call('HGETALL', at)) end
  for first = 0, list[3] - 1, 1000 do
    act(redis.call('ZRANGE', at, first, first + 999), list[2])
  end
end

for _, list in ipairs(plan.aside) do
  local verb = list[1] == 't' and 'HLEN' or 'ZCARD'
  if redis.call(verb, KEYS[3] .. list[1] .. '>' .. list[2]) ~= list[3] then return 3 end
end
local is_whole = true
local function count(keys)
  for place, key in ipairs(keys) do keys[place] = KEYS[3] .. key end
  is_whole = is_whole and redis.call('EXISTS', unpack(keys)) == #keys
end
for _, list in ipairs(plan.aside) do
  if list[1] == 'k' then each(list, count) end
end
if not is_whole then return 3 end

local acts = {
  t = function(texts) redis.call('MSET', unpack(texts)) end,
  d = function(keys) redis.call('UNLINK', unpack(keys)) end,
  r = function(members, key) redis.call('SREM', key, unpack(members)) end,
  s = function(members, key) redis.call('SADD', key, unpack(members)) end,
  k = function(keys)
    for _, key in ipairs(keys) do
      redis.call('RENAME', KEYS[3] .. key, key)
      redis.call('PERSIST', key)
    end
  end,
}
for _, list in ipairs(plan.aside) do
  each(list, acts[list[1]])
  redis.call('UNLINK', KEYS[3] .. list[1] .. '>' .. list[2])
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
