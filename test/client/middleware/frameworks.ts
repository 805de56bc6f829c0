// The same small application in each framework: /login behind the middleware, which says what was
// known of its request. One suite runs against all of them.

import { createServer, type Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import {
  type GuardOptions,
  type Judged,
  guarded as guardedHttp,
  iprisk as ipriskExpress,
} from '../../../src/client/middleware/connect-middleware.ts'
import {
  type Judged as FastifyJudged,
  iprisk as ipriskFastify,
  ipriskOf as fastifyJudged,
} from '../../../src/client/middleware/fastify-hook.ts'
import {
  type Judged as HonoJudged,
  iprisk as ipriskHono,
} from '../../../src/client/middleware/hono-middleware.ts'
import {
  type Judged as KoaJudged,
  iprisk as ipriskKoa,
} from '../../../src/client/middleware/koa-middleware.ts'
import {
  type Judged as NextJudged,
  guarded as guardedNext,
  ipriskOf as nextJudged,
  report as reportNext,
} from '../../../src/client/middleware/next-handlers.ts'

/** What every application is made with; `custom` answers 401 in the words of its framework. */
export type AppOptions = Omit<GuardOptions<never>, 'challenge' | 'block' | 'actions'> & {
  readonly custom?: boolean
}

export interface App {
  readonly url: string
  readonly close: () => Promise<void>
}

const factor = { status: 401, text: 'second factor' } as const
const said = (judged: Judged | undefined): string =>
  JSON.stringify({ action: judged?.action, address: judged?.address })

async function listening(server: Server): Promise<App> {
  if (!server.listening) {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  }
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/login`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

// Its types are those of Express 5, which is what the application uses of it.
const express4 = createRequire(import.meta.url)('express4') as typeof express

function ofExpress(create: typeof express) {
  return ({ custom, ...options }: AppOptions): Promise<App> => {
    const app = create()
    const middleware = ipriskExpress({
      ...options,
      ...(custom === true
        ? { challenge: (_request, response) => response.status(factor.status).send(factor.text) }
        : {}),
    })
    app.post('/login', middleware, (request, response) => {
      void ipriskExpress.report(request, 'abusive')
      response.send(said(request.iprisk))
    })
    return listening(createServer(app))
  }
}

const custom = {
  fetch: () => new Response(factor.text, { status: factor.status }),
} as const

export const frameworks: Readonly<Record<string, (options: AppOptions) => Promise<App>>> = {
  'Express 5': ofExpress(express),
  'Express 4': ofExpress(express4),

  'node:http': ({ custom, ...options }) =>
    listening(
      createServer(
        guardedHttp(
          {
            ...options,
            ...(custom === true
              ? {
                  challenge: (_request, response) => {
                    response.statusCode = factor.status
                    response.end(factor.text)
                  },
                }
              : {}),
          },
          (request, response) => {
            void ipriskExpress.report(request, 'abusive')
            response.end(said((request as { iprisk?: Judged }).iprisk))
          },
        ),
      ),
    ),

  'Fastify 5': async ({ custom, ...options }) => {
    const app = fastify()
    const preHandler = ipriskFastify({
      ...options,
      ...(custom === true
        ? { challenge: (_request, reply) => reply.code(factor.status).send(factor.text) }
        : {}),
    })
    app.post('/login', { preHandler }, (request) => {
      void ipriskFastify.report(request, 'abusive')
      const judged: FastifyJudged | undefined = fastifyJudged(request)
      return said(judged)
    })
    await app.listen({ port: 0, host: '127.0.0.1' })
    const { port } = app.server.address() as AddressInfo
    return { url: `http://127.0.0.1:${port}/login`, close: () => app.close() }
  },

  'Hono 4': async ({ custom: isCustom, ...options }) => {
    const app = new Hono<{ Variables: { iprisk: HonoJudged } }>()
    const challenge = isCustom === true ? { challenge: custom.fetch } : {}
    app.post('/login', ipriskHono({ ...options, ...challenge }), (context) => {
      void ipriskHono.report(context, 'abusive')
      return context.text(said(context.get('iprisk')))
    })
    const server = await new Promise<Server>((resolve) => {
      const made = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, () =>
        resolve(made as Server),
      )
    })
    return listening(server)
  },

  Koa: ({ custom, ...options }) => {
    const app = new Koa<{ iprisk?: KoaJudged }>()
    app.use(
      ipriskKoa({
        ...options,
        ...(custom === true
          ? {
              challenge: (context) => {
                context.status = factor.status
                context.body = factor.text
              },
            }
          : {}),
      }),
    )
    app.use((context) => {
      void ipriskKoa.report(context, 'abusive')
      context.body = said(context.state.iprisk)
    })
    const handle = app.callback()
    return listening(createServer((request, response) => void handle(request, response)))
  },
}

/** Handlers of fetch's requests, which have no peer: an edge runtime, Next. */
export const edges: Readonly<
  Record<string, (options: AppOptions) => (request: Request) => Response | Promise<Response>>
> = {
  'Hono 4 on an edge runtime': ({ custom: isCustom, ...options }) => {
    const app = new Hono<{ Variables: { iprisk: Judged } }>()
    const challenge = isCustom === true ? { challenge: custom.fetch } : {}
    app.post('/login', ipriskHono({ ...options, ...challenge }), (context) => {
      void ipriskHono.report(context, 'abusive')
      return context.text(said(context.get('iprisk')))
    })
    return (request) => app.fetch(request)
  },
  'a route handler of Next': ({ custom: isCustom, ...options }) => {
    const challenge = isCustom === true ? { challenge: custom.fetch } : {}
    const route = guardedNext({ ...options, ...challenge }, (request: Request) => {
      void reportNext(request, 'abusive')
      const judged: NextJudged | undefined = nextJudged(request)
      return new Response(said(judged))
    })
    return (request) => route(request, undefined)
  },
}
