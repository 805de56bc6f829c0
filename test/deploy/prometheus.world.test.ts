// A real server, exercised, and a real Prometheus that scrapes it: its text passes promtool, the
// alerts fire and are silent as their tests say, and every expression of the dashboard is parsed,
// executed, and shows something where the server did what it shows.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, readFileSync, renameSync, utimesSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { writeTable } from '../../build/write/write-table.ts'
import { parseDay } from '../../src/base/day.ts'
import { packageRoot } from '../../src/base/package-root.ts'
import { defaultPoliciesText } from '../../src/policy/default-policies.ts'
import { createPrometheusText } from '../../src/admin/metrics/prometheus-text.ts'
import { freePort } from '../../bench/harness/free-port.ts'
import { familiesIn } from '../admin/exposition.ts'
import { gathered } from '../admin/gathered.ts'
import { type Server, makeKey, newState, preloading, startServer } from '../serve/server.ts'
import { smallContent, writeSmallTable } from '../table/small-table.ts'
import { describeWith } from './need.ts'
import { eventually } from '../eventually.ts'

const deploy = join(packageRoot, 'deploy')
const alertsFile = join(deploy, 'prometheus/alerts.yml')
const alerts = readFileSync(alertsFile, 'utf8')
interface Dashboard {
  readonly panels: readonly {
    readonly title: string
    readonly targets?: readonly { readonly expr: string }[]
  }[]
}
const dashboards = ['iprisk', 'login-risk'].map(
  (name) => JSON.parse(readFileSync(join(deploy, `grafana/${name}.json`), 'utf8')) as Dashboard,
)

interface Drawn {
  readonly title: string
  readonly expr: string
}

const drawn: readonly Drawn[] = dashboards
  .flatMap(({ panels }) => panels)
  .flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })))

/** With the present kinds of feeds no address is mixed (ARCHITECTURE.md). */
const ofClass = {
  bogon: '10.0.0.1',
  clean: '9.0.0.1',
  known_bot: '11.66.0.1',
  hosting: '11.2.2.2',
  proxy: '9.9.9.9',
  vpn: '9.200.0.1',
  tor: '9.1.2.3',
  residential_proxy: '12.0.0.5',
} as const

interface RuleTests {
  readonly tests: readonly { readonly alert_rule_test: readonly { readonly alertname: string }[] }[]
}

const promtool = (args: readonly string[], input = ''): { status: number | null; text: string } => {
  const { status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' })
  return { status, text: `${stdout}${stderr}` }
}

describe('what alerts and dashboards ask for', () => {
  it('is exported', async () => {
    const names = familiesIn(await createPrometheusText().text(gathered)).map(({ name }) => name)
    const known = new Set(names.flatMap((name) => [name, `${name}_bucket`]))
    const asked = [
      alerts.replace(/^#.*$|\$externalLabels\.\w+/gm, ''),
      ...drawn.map(({ expr }) => expr),
    ].flatMap((text) => text.match(/\b(?:iprisk|process)_\w+/g) ?? [])
    expect(asked.length).toBeGreaterThan(50)
    expect(asked.filter((name) => !known.has(name))).toEqual([])
    // Nothing is exported that nobody can see, but what the dashboard has no room for.
    const seen = new Set(asked.map((name) => name.replace(/_bucket$/, '')))
    expect(names.filter((name) => !seen.has(name))).toEqual(
      [
        'iprisk_test_requests_total',
        'iprisk_feedback_refused_total',
        'iprisk_reported_addresses_total',
        'iprisk_admin_refusals_total',
        'iprisk_table_last_refusal_timestamp_seconds',
        'process_cpu_seconds_total',
        'process_start_time_seconds',
      ].filter((name) => !seen.has(name)),
    )
  })

  it('is explained: every alert has its paragraph, and every paragraph its alert', () => {
    const document = readFileSync(join(packageRoot, 'docs/operate.md'), 'utf8')
    const names = [...alerts.matchAll(/- alert: (\w+)/g)].map(([, name]) => name)
    expect([...document.matchAll(/^### (Iprisk\w+)$/gm)].map(([, name]) => name)).toEqual(names)
    const anchors = [...alerts.matchAll(/runbook_url: '.*\/operate\.md#(\w+)'/g)].map(
      ([, it]) => it,
    )
    expect(anchors).toEqual(names.map((name) => name?.toLowerCase()))
  })
})

describeWith('promtool', ['--version'], () => {
  it('finds the rules sound, and each fires and is silent as its tests say', () => {
    expect(promtool(['check', 'rules', alertsFile]).status).toBe(0)
    const tests = join(deploy, 'prometheus/alerts.test.yml')
    const run = promtool(['test', 'rules', tests])
    expect(run.text).toContain('SUCCESS')
    expect(run.status).toBe(0)
    const written = readFileSync(tests, 'utf8')
    for (const [, name] of alerts.matchAll(/- alert: Iprisk(\w+)/g)) {
      expect(written).toContain(`'${name} fires`)
      expect(written).toContain(`'${name} is silent`)
    }
  })

  // The tests of that alert alone: promtool evaluates every rule each minute of every test.
  it.each([
    ['IpriskTableOld', '> 3 * 86400', '> 5 * 86400'],
    ['IpriskDown', 'severity: critical', 'severity: warning'],
  ])('would notice of %s %s as %s', (name, good, bad) => {
    const folder = newState()
    const all = parse(readFileSync(join(deploy, 'prometheus/alerts.test.yml'), 'utf8')) as RuleTests
    const own = all.tests.filter(({ alert_rule_test: [test] }) => test?.alertname === name)
    const tests = join(folder, 'alerts.test.yml')
    writeFileSync(tests, stringify({ ...all, tests: own }))
    const statusOf = (text: string): number | null => {
      writeFileSync(join(folder, 'alerts.yml'), text)
      return promtool(['test', 'rules', tests]).status
    }
    expect([statusOf(alerts), statusOf(alerts.replace(good, bad))]).toEqual([0, 1])
  })
})

describeWith('prometheus', ['--version'], () => {
  let server: Server
  let prometheus: ChildProcess
  let at = ''

  const query = async (expression: string): Promise<readonly unknown[]> => {
    const body = new URLSearchParams({ query: expression })
    const response = await fetch(`${at}/api/v1/query`, { method: 'POST', body })
    const answer = (await response.json()) as {
      readonly status: string
      readonly error?: string
      readonly data?: { readonly result: readonly unknown[] }
    }
    expect([expression, answer.status, answer.error]).toEqual([expression, 'success', undefined])
    return answer.data?.result ?? []
  }

  beforeAll(async () => {
    const table = join(newState(), 'small.iprisk')
    copyFileSync(writeSmallTable(), table)
    const policies = join(newState(), 'policies.json')
    const own = JSON.parse(defaultPoliciesText({ observe: false })) as {
      policies: { default: { rules: object[] } }
    }
    const watched = { name: 'seen', condition: 'risk_score > 0', action: 'block', observe: true }
    own.policies.default.rules.push(watched)
    writeFileSync(policies, JSON.stringify(own), { mode: 0o644 })
    // So old that the first refresh is due at once. What it runs only ends well: of a build there
    // is nothing to be seen here but that, and the table stays the one that `exercise` replaces.
    utimesSync(table, 0, 0)
    const endBuild = "if (process.argv[2] === 'build') process.exit(0)"
    server = await startServer({
      table,
      args: ['--refresh-every', '30d', '--policies', policies],
      environment: preloading('/cli/main.js', endBuild),
    })
    at = await startPrometheus()
    await exercise(table)
  }, 60_000)
  afterAll(async () => {
    prometheus?.kill('SIGKILL')
    await server?.stop('SIGKILL')
  })

  async function startPrometheus(): Promise<string> {
    const folder = newState()
    const port = await freePort()
    const targets = `127.0.0.1:${server.adminPort}`
    const job = `{job_name: iprisk, static_configs: [{targets: ['${targets}']}]}`
    const lines = ['global: {scrape_interval: 500ms, scrape_timeout: 500ms}', 'rule_files:']
    lines.push(`  - ${alertsFile}`, `scrape_configs: [${job}]`)
    writeFileSync(join(folder, 'prometheus.yml'), lines.join('\n'))
    const url = `127.0.0.1:${port}`
    const flags = [`config.file=${folder}/prometheus.yml`, `storage.tsdb.path=${folder}/data`]
    const args = [...flags, `web.listen-address=${url}`].map((flag) => `--${flag}`)
    prometheus = spawn('prometheus', args, { stdio: 'ignore' })
    await eventually(async () => {
      const ready = await fetch(`http://${url}/-/ready`).catch(() => undefined)
      return ready?.ok === true
    })
    return `http://${url}`
  }

  /** One of everything: answers, errors, a batch, a swap, a refusal. */
  async function exercise(table: string): Promise<void> {
    const key = await makeKey(server.state)
    const path = '/v1/intelligence/ip-risk'
    const post = async (more: string, body: string): Promise<number> => {
      const headers = { authorization: `Bearer ${key}` }
      const url = `http://127.0.0.1:${server.port}${path}${more}`
      const response = await fetch(url, { method: 'POST', headers, body })
      await response.arrayBuffer()
      return response.status
    }
    const ask = (more: string, body: string): Promise<number> => post(`/check${more}`, body)
    await eventually(async () => (await ask('', '{"ip":"9.1.2.3"}')) === 200)
    expect(await ask('', 'nothing')).toBe(400)
    // An address of each class, in a batch, by itself, and with insights.
    expect(await ask('/batch', JSON.stringify({ ips: Object.values(ofClass) }))).toBe(200)
    for (const ip of Object.values(ofClass)) {
      expect(await ask('', JSON.stringify({ ip }))).toBe(200)
      expect(await ask('?include=insights', JSON.stringify({ ip }))).toBe(200)
    }
    const outcomes = ['abusive', 'legitimate'].map((outcome) => ({ ip: '9.1.2.3', outcome }))
    expect(await post('/feedback', JSON.stringify({ outcomes }))).toBe(202)
    await giveUp(key)
    writeTable(`${table}.new`, { ...smallContent(), asOf: parseDay('2026-08-23')! })
    renameSync(`${table}.new`, table)
    await eventually(async () =>
      (await server.metric('iprisk_table_swaps_total')) === 1 ? 1 : undefined,
    )
    writeFileSync(`${table}.new`, 'no table at all')
    renameSync(`${table}.new`, table)
    await eventually(async () =>
      (await server.metric('iprisk_table_refusals_total')) === 1 ? 1 : undefined,
    )
    expect(await ask('', '{"ip":"9.1.2.3"}')).toBe(200)
  }

  /** A client whose time-out ends before the answer. */
  async function giveUp(key: string): Promise<void> {
    const socket = connect(server.port, '127.0.0.1')
    await once(socket, 'connect')
    const head = `POST /v1/intelligence/ip-risk/check HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${key}\r\n`
    socket.write(`${head}content-length: 30\r\n\r\n{"ip":`)
    await eventually(async () =>
      (await server.metric('iprisk_body_bytes')) > 0 ? true : undefined,
    )
    socket.destroy()
    await eventually(async () =>
      (await server.metric('iprisk_aborted_requests_total')) > 0 ? true : undefined,
    )
  }

  it('is scraped text that promtool finds nothing to say about', async () => {
    const { text } = await server.admin('/metrics')
    expect(promtool(['check', 'metrics'], text)).toEqual({ status: 0, text: '' })
    const bad = promtool(['check', 'metrics'], '# TYPE a_total gauge\na_total 1\n')
    expect(bad.status).not.toBe(0)
  })

  it('has counted an answer of every class that a table can give', async () => {
    const { text } = await server.admin('/metrics')
    for (const [classification, ip] of Object.entries(ofClass)) {
      const counted = new RegExp(
        `^iprisk_answers_total\\{classification="${classification}"\\} (\\d+)$`,
        'm',
      )
      expect([classification, ip, Number(counted.exec(text)?.[1])]).not.toEqual([
        classification,
        ip,
        0,
      ])
    }
  })

  it('has counted what each single check was told, and what turned out', async () => {
    const { text } = await server.admin('/metrics')
    const sumOf = (name: string, labels = ''): number =>
      [...text.matchAll(new RegExp(`^iprisk_${name}\\{(.*)\\} (\\d+)$`, 'gm'))]
        .filter(([, own]) => own?.includes(labels))
        .reduce((sum, [, , count]) => sum + Number(count), 0)
    // Twice of each class, and one before and after.
    const single = Object.keys(ofClass).length * 2
    expect(sumOf('scores_total')).toBeGreaterThan(single)
    expect(sumOf('countries_total')).toBe(sumOf('scores_total'))
    expect(sumOf('providers_total')).toBeGreaterThan(0)
    // Those with insights are decided elsewhere.
    const decided = sumOf('decisions_total', 'policy="default"')
    expect(decided).toBeGreaterThan(Object.keys(ofClass).length)
    expect(sumOf('decisions_total', 'action="allow"')).toBeLessThan(decided)
    expect(sumOf('outcomes_total', 'outcome="abusive"')).toBe(1)
  })

  it('executes every expression of both dashboards, each with a result', async () => {
    expect(drawn.length).toBeGreaterThan(60)
    for (const { title, expr } of drawn) {
      // A week ago there was no server here: the same expression of a moment ago.
      const expression = expr
        .replaceAll('$__rate_interval', '30s')
        .replaceAll('$instance', '.*')
        .replaceAll('offset 1w', 'offset 1s')
      expect(expression).not.toContain('$')
      const look = async (): Promise<readonly unknown[] | undefined> => {
        const result = await query(expression)
        return result.length > 0 ? result : undefined
      }
      // This server takes none, so there is nothing to see of them; Prometheus takes the
      // expression.
      if (title.startsWith('Published tables')) {
        await query(expression)
        continue
      }
      const result = await eventually(look, 10_000).catch(() => [])
      expect([title, expression, result.length > 0]).toEqual([title, expression, true])
    }
  })

  it('executes the query by which the autoscaler is told the load of the loops', async () => {
    const file = join(deploy, 'kubernetes/components/autoscaling/autoscaler.yaml')
    const written = readFileSync(file, 'utf8')
    const series = /seriesQuery: '(\w+)\{/.exec(written)?.[1] ?? ''
    const asked = (/metricsQuery: (.*)$/m.exec(written)?.[1] ?? '')
      .replace('<<.GroupBy>>', 'instance')
      .replace('<<.Series>>', series)
      .replace('<<.LabelMatchers>>', 'job="iprisk"')
    expect(asked).not.toContain('<<')
    expect(await query(asked)).toHaveLength(1)
  })

  it('evaluates every alert, and raises the one of the refused table', async () => {
    const names = [...alerts.matchAll(/- alert: (\w+)/g)].map(([, name]) => name)
    const response = await fetch(`${at}/api/v1/rules`)
    const { data } = (await response.json()) as {
      readonly data: {
        readonly groups: readonly {
          readonly rules: readonly { readonly name: string; readonly health: string }[]
        }[]
      }
    }
    const rules = data.groups.flatMap((group) => group.rules)
    expect(rules.map(({ name }) => name)).toEqual(names)
    expect(rules.filter(({ health }) => health === 'err')).toEqual([])
    const expression = /alert: IpriskTableRefused\n\s+expr: >-\n([\s\S]*?)\n\s+for:/.exec(
      alerts,
    )?.[1]
    expect(await query(expression ?? '')).toHaveLength(1)
  })

  it('sees a server that is gone: up is 0', async () => {
    server.child.kill('SIGKILL')
    await once(server.child, 'exit')
    const gone = await eventually(async () => {
      const result = await query('up{job="iprisk"} == 0')
      return result.length > 0 ? result : undefined
    })
    expect(gone).toHaveLength(1)
  })
})
