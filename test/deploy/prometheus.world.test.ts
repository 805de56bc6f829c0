// A real server, exercised, and a real Prometheus that scrapes it: its text passes promtool, the
// alerts fire and are silent as their tests say, and every expression of the dashboard is parsed,
// executed, and shows something where the server did what it shows.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, readFileSync, renameSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { writeTable } from '../../build/write/write-table.ts'
import { parseDay } from '../../src/base/day.ts'
import { packageRoot } from '../../src/base/package-root.ts'
import { createPrometheusText } from '../../src/admin/prometheus-text.ts'
import { freePort } from '../account/stores/redis/redis-servers.ts'
import { familiesIn } from '../admin/exposition.ts'
import { gathered } from '../admin/gathered.ts'
import { type Server, makeKey, newState, preloading, startServer } from '../serve/server.ts'
import { smallContent, writeSmallTable } from '../table/small-table.ts'
import { describeWith } from './need.ts'
import { eventually } from '../eventually.ts'

const deploy = join(packageRoot, 'deploy')
const alertsFile = join(deploy, 'prometheus/alerts.yml')
const alerts = readFileSync(alertsFile, 'utf8')
const dashboard = JSON.parse(readFileSync(join(deploy, 'grafana/iprisk.json'), 'utf8')) as {
  readonly panels: readonly {
    readonly title: string
    readonly targets?: readonly { readonly expr: string }[]
  }[]
}

interface Drawn {
  readonly title: string
  readonly expr: string
}

const drawn: readonly Drawn[] = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => ({ title, expr })),
)

const promtool = (args: readonly string[], input = ''): { status: number | null; text: string } => {
  const { status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' })
  return { status, text: `${stdout}${stderr}` }
}

describe('what alerts and dashboard ask for', () => {
  it('is exported', async () => {
    const names = familiesIn(await createPrometheusText().text(gathered)).map(({ name }) => name)
    const known = new Set(names.flatMap((name) => [name, `${name}_bucket`]))
    const asked = [alerts.replace(/^#.*$/gm, ''), ...drawn.map(({ expr }) => expr)].flatMap(
      (text) => text.match(/\b(?:iprisk|process)_\w+/g) ?? [],
    )
    expect(asked.length).toBeGreaterThan(50)
    expect(asked.filter((name) => !known.has(name))).toEqual([])
    // Nothing is exported that nobody can see, but what the dashboard has no room for.
    const seen = new Set(asked.map((name) => name.replace(/_bucket$/, '')))
    expect(names.filter((name) => !seen.has(name))).toEqual(
      [
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
    const anchors = [...alerts.matchAll(/runbook: docs\/operate\.md#(\w+)/g)].map(([, it]) => it)
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

  it.each([
    ['> 3 * 86400', '> 5 * 86400'],
    ['severity: critical', 'severity: warning'],
  ])('would notice %s as %s', (good, bad) => {
    const folder = newState()
    writeFileSync(join(folder, 'alerts.yml'), alerts.replace(good, bad))
    const tests = join(folder, 'alerts.test.yml')
    copyFileSync(join(deploy, 'prometheus/alerts.test.yml'), tests)
    expect(promtool(['test', 'rules', tests]).status).toBe(1)
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
    // So old that the first refresh is due at once. What it runs only ends well: of a build there is
    // nothing to be seen here but that, and the table stays the one that `exercise` replaces.
    utimesSync(table, 0, 0)
    const endBuild = "if (process.argv[2] === 'build') process.exit(0)"
    server = await startServer({
      table,
      args: ['--refresh-every', '30d'],
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
    const path = '/v1/intelligence/ip-risk/check'
    const ask = async (more: string, body: string): Promise<number> => {
      const headers = { authorization: `Bearer ${key}` }
      const url = `http://127.0.0.1:${server.port}${path}${more}`
      const response = await fetch(url, { method: 'POST', headers, body })
      await response.arrayBuffer()
      return response.status
    }
    await eventually(async () => (await ask('', '{"ip":"9.1.2.3"}')) === 200)
    expect(await ask('', 'nothing')).toBe(400)
    expect(await ask('/batch', '{"ips":["9.1.2.3","11.1.1.1"]}')).toBe(200)
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

  it('is scraped text that promtool finds nothing to say about', async () => {
    const { text } = await server.admin('/metrics')
    expect(promtool(['check', 'metrics'], text)).toEqual({ status: 0, text: '' })
    const bad = promtool(['check', 'metrics'], '# TYPE a_total gauge\na_total 1\n')
    expect(bad.status).not.toBe(0)
  })

  it('executes every expression of the dashboard, each with a result', async () => {
    expect(drawn.length).toBeGreaterThan(40)
    for (const { title, expr } of drawn) {
      const expression = expr.replaceAll('$__rate_interval', '30s').replaceAll('$instance', '.*')
      expect(expression).not.toContain('$')
      const look = async (): Promise<readonly unknown[] | undefined> => {
        const result = await query(expression)
        return result.length > 0 ? result : undefined
      }
      const result = await eventually(look, 10_000).catch(() => [])
      expect([title, expression, result.length > 0]).toEqual([title, expression, true])
    }
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
