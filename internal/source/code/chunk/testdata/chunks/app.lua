local M = {}
M.VERSION = "1.0"
local LIMIT <const> = 10

--[==[ function fake()
]==]
local text = [[
function fake2()
]]

function M.open(path) -- end
  if path then return { name = path } end
end

function M:close()
  self.f = function() end
end

M.reset = function(self)
  self.n = 0
end

local function helper(...)
  local n = select("#", ...)
  return n
end

return M
