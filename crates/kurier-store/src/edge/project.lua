-- KEYS: the generation of the tenant, what is cleared, the entry of every write, the hint of
-- every write (of all or of none), then what else belongs to each write: the keys of its events,
-- the indexes that it leaves, those that it enters. ARGV: what is to be done, how long hints, the
-- keys of events and most entries live, the numbers of all writes, then for each write its value
-- and hint, its time to live if it has one of its own, and if it has indexes its name in them and
-- the fields that count them. All keys carry the tenant's hash tag. There may be thousands of
-- writes: what can be asked for or told at once is, and nothing is kept for each of them.
local WARM, WHOLE, REBUILD = 0, 1, 2
local NUMBERS = '<i8i8i8i8i4i4i4i1i1i1'
-- A call takes so many arguments without running out of stack.
local AT_ONCE = 1000

local call, read, tonumber, match = redis.call, struct.unpack, tonumber, string.match
local mode, begins_at, clears, count, hints = read('<i1i8i4i4i4', ARGV[1])
local hint_ttl, dedup_ttl, entry_ttl, numbers = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local generation = KEYS[1]
local entries_from = 1 + clears
local hints_from = entries_from + count
local k_from = hints_from + hints
local k, a = k_from, 5

if mode == WHOLE and call('EXISTS', generation) == 0 then return {0} end

-- The values of keys that stand side by side.
local function ask(from, how_many)
  if how_many <= AT_ONCE then
    return how_many > 0 and call('MGET', unpack(KEYS, from + 1, from + how_many)) or {}
  end
  local values = {}
  for at = 0, how_many - 1, AT_ONCE do
    local part = ask(from + at, math.min(AT_ONCE, how_many - at))
    for n, value in ipairs(part) do values[at + n] = value end
  end
  return values
end

local function set(key, value, ttl)
  if ttl == '' then
    call('SET', key, value)
  else
    call('PSETEX', key, ttl, value)
  end
end

local function tally(field, by)
  if mode ~= WARM and call('HINCRBY', generation, field, by) <= 0 then
    call('HDEL', generation, field)
  end
end

local held = ask(entries_from, count)
local hinted = mode == REBUILD and {} or ask(hints_from, hints)
-- Which events are known is asked only if an entity has no hint, and then of all at once. What is
-- no text, as indexes are, is answered with nothing.
local known = nil
local function is_known(from, dedups)
  known = known or ask(k_from, #KEYS - k_from)
  for n = from + 1, from + dedups do
    if not known[n - k_from] then return false end
  end
  return dedups > 0
end

-- The revision that a value begins with; less than any without one.
local function revision_of(value)
  return value and tonumber(match(value, '^{"revision":(%d+)')) or -1
end

-- Up to where a value includes every event; less than any if it does not say.
local function as_of_of(value)
  return value and tonumber(match(value, '^{"revision":%d+,"as_of":(%d+)')) or -1
end

if mode == REBUILD then
  local size = struct.size(NUMBERS)
  for at = 1, count do
    local revision = read('<i8', numbers, (at - 1) * size + 1)
    if revision_of(held[at]) > revision then return {-1} end
  end
  call('DEL', generation, unpack(KEYS, 2, 1 + clears))
  call('HSET', generation, 'at', string.format('%d', begins_at))
end

local answer, furthest, place = {1}, -1, 1
for at = 1, count do
  local revision, as_of, seen, upto, dedups, leaves, enters, has_value, renews, has_ttl
  revision, as_of, seen, upto, dedups, leaves, enters, has_value, renews, has_ttl, place =
    read(NUMBERS, numbers, place)
  local has_indexes = leaves + enters > 0
  local hint, why = tonumber(hinted[at] or nil), nil
  if mode ~= REBUILD then
    local value = held[at]
    local standing = revision_of(value)
    if hint and (hint > upto or renews == 1 and hint == upto) then
      why = 2
    -- An event that was written renewed the hint with it: only who has none need ask for it.
    elseif not hint and is_known(k, dedups) then
      why = 3
    elseif standing > revision
      or standing == revision and as_of >= 0 and as_of_of(value) > as_of then
      why = 4
    elseif has_indexes and standing ~= seen then
      why = 5
    end
  end
  if not why then
    local entry, member = KEYS[entries_from + at], a + 3 + has_ttl
    if has_value == 1 then
      set(entry, ARGV[a + 1], has_ttl == 1 and ARGV[a + 3] or entry_ttl)
    else
      call('DEL', entry)
    end
    for n = 1, leaves + enters do
      local index, field = KEYS[k + dedups + n], ARGV[member + n]
      if n <= leaves then
        if call('SREM', index, ARGV[member]) == 1 then tally(field, -1) end
      elseif call('SADD', index, ARGV[member]) == 1 then
        tally(field, 1)
      end
    end
    if renews == 1 then set(KEYS[hints_from + at], ARGV[a + 2], hint_ttl) end
    for n = 1, dedups do set(KEYS[k + n], '1', dedup_ttl) end
    if upto > furthest then furthest = upto end
  end
  answer[at + 1] = why or 1
  k = k + dedups + leaves + enters
  a = a + 2 + has_ttl
  if has_indexes then a = a + 1 + leaves + enters end
end
if mode ~= WARM and furthest > tonumber(call('HGET', generation, 'at') or -1) then
  call('HSET', generation, 'at', string.format('%d', furthest))
end
return answer
