-- Asks iprisk's gate about a visitor: `http-request lua.iprisk-gate <policy>`. A stopped visitor gets
-- the gate's page. Fails open: without an answer within the time-out the visitor is let in.
-- A socket and not core.httpclient, which HAProxy 2.6 retries for seconds while the gate is down.

local host, port, timeout_seconds = '127.0.0.1', 9191, 0.2

-- Status, header fields by lower-case name, and body; nil without a whole answer.
local function ask(request)
    local socket = core.tcp()
    socket:settimeout(timeout_seconds)
    if not socket:connect(host, port) or not socket:send(request) then
        socket:close()
        return nil
    end
    local text = socket:receive('*a')
    socket:close()
    local head, body = (text or ''):match('^(.-\r\n)\r\n(.*)$')
    local status = tonumber((head or ''):match('^HTTP/1%.1 (%d%d%d)'))
    local fields = {}
    for name, value in (head or ''):gmatch('\r\n([%w-]+): ([^\r\n]*)') do
        fields[name:lower()] = value
    end
    return status, fields, body
end

-- Cut: the gate refuses large headers.
local function cut(text, length)
    return ((text or ''):sub(1, length):gsub('%c', ''))
end

-- The whole line: `req_hdr` would take the last of the values between commas.
local function header(txn, name, length)
    return cut(txn.f:req_fhdr(name), length or 200)
end

local function line(name, value)
    return value == '' and '' or name .. ': ' .. value .. '\r\n'
end

-- What rules on agents read.
local function agent(txn)
    return line('User-Agent', header(txn, 'user-agent', 700)) ..
        line('Signature', header(txn, 'signature', 300)) ..
        line('Signature-Input', header(txn, 'signature-input', 900)) ..
        line('Signature-Agent', header(txn, 'signature-agent', 300)) ..
        line('X-Forwarded-Host', header(txn, 'host', 255)) ..
        line('X-Forwarded-Proto', txn.f:ssl_fc() == 1 and 'https' or 'http') ..
        line('X-Forwarded-Uri', cut(txn.f:pathq(), 500)) ..
        line('X-Forwarded-Method', cut(txn.f:method(), 10))
end

core.register_action('iprisk-gate', { 'http-req' }, function(txn, policy)
    local status, fields, body = ask('GET /gate/' .. policy .. ' HTTP/1.1\r\nHost: iprisk\r\n' ..
        'X-Forwarded-For: ' .. txn.f:src() .. '\r\n' ..
        'Accept: ' .. header(txn, 'accept') .. '\r\n' ..
        'Accept-Language: ' .. header(txn, 'accept-language') .. '\r\n' ..
        agent(txn) ..
        'Connection: close\r\n\r\n')
    if status == nil then
        txn:set_var('txn.iprisk_degraded', 'gate_away')
        return
    end
    if status ~= 204 and status ~= 403 and status ~= 401 then
        txn:set_var('txn.iprisk_degraded', 'gate_status')
        return
    end
    for _, fact in ipairs({ 'action', 'rule', 'classification', 'score', 'country', 'asn', 'degraded' }) do
        txn:set_var('txn.iprisk_' .. fact, fields['x-iprisk-' .. fact] or '')
    end
    if status == 204 then return end
    local reply = txn:reply({ status = status })
    for _, name in ipairs({ 'content-type', 'content-security-policy', 'cache-control',
        'referrer-policy', 'x-content-type-options', 'x-request-id' }) do
        if fields[name] then reply:add_header(name, fields[name]) end
    end
    reply:set_body(body)
    txn:done(reply)
end, 1)
