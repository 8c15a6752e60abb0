-- KEYS[1] is the generation of the tenant, ARGV[1] the plan, in which keys and arguments stand
-- by their number. All keys carry the tenant's hash tag. Checks first, writes last.
local plan = cjson.decode(ARGV[1])
local generation = KEYS[1]
local counts = plan.mode ~= 'warm'

-- The revision that a value begins with; nothing without one.
local function revision(value)
  return value and tonumber(string.match(value, '^{"revision":(%d+)'))
end

-- Up to where it includes every event; nothing if it does not say.
local function as_of(value)
  return value and tonumber(string.match(value, '^{"revision":%d+,"as_of":(%d+)'))
end

local function set(key, value, ttl)
  if ttl then
    redis.call('SET', key, value, 'PX', string.format('%d', ttl))
  else
    redis.call('SET', key, value)
  end
end

local function count(field, by)
  if counts and redis.call('HINCRBY', generation, field, by) <= 0 then
    redis.call('HDEL', generation, field)
  end
end

local function is_known(write)
  for _, number in ipairs(write.d) do
    if redis.call('EXISTS', KEYS[number]) == 0 then return false end
  end
  return #write.d > 0
end

-- Why a write is not to happen, or nothing.
local function objection(write)
  local hint = tonumber(write.h and redis.call('GET', KEYS[write.h]) or nil)
  if hint and (hint > write.u or write.w and hint == write.u) then return 2 end
  if is_known(write) then return 3 end
  local value = redis.call('GET', KEYS[write.e])
  local held = revision(value) or -1
  if held > write.r then return 4 end
  if held == write.r and write.a and (as_of(value) or -1) > write.a then return 4 end
  if #write.l + #write.n > 0 and held ~= write.s then return 5 end
end

local function perform(write)
  if write.v then
    set(KEYS[write.e], ARGV[write.v], write.t)
  else
    redis.call('DEL', KEYS[write.e])
  end
  for _, index in ipairs(write.l) do
    if redis.call('SREM', KEYS[index[1]], ARGV[write.m]) == 1 then count(index[2], -1) end
  end
  for _, index in ipairs(write.n) do
    if redis.call('SADD', KEYS[index[1]], ARGV[write.m]) == 1 then count(index[2], 1) end
  end
  if write.h and write.w then set(KEYS[write.h], string.format('%d', write.u), write.ht) end
  for _, number in ipairs(write.d) do
    set(KEYS[number], '1', write.dt)
  end
end

if plan.mode == 'whole' and redis.call('EXISTS', generation) == 0 then return {0} end

if plan.mode == 'rebuild' then
  for _, write in ipairs(plan.writes) do
    local held = revision(redis.call('GET', KEYS[write.e]))
    if held and held > write.r then return {-1} end
  end
  redis.call('DEL', generation)
  for _, number in ipairs(plan.clear) do redis.call('DEL', KEYS[number]) end
  redis.call('HSET', generation, 'at', string.format('%d', plan.at))
end

local answer, at = {1}, -1
for _, write in ipairs(plan.writes) do
  local objected = plan.mode ~= 'rebuild' and objection(write)
  if not objected then
    perform(write)
    at = math.max(at, write.u)
  end
  answer[#answer + 1] = objected or 1
end
if counts and at > tonumber(redis.call('HGET', generation, 'at') or -1) then
  redis.call('HSET', generation, 'at', string.format('%d', at))
end
return answer
