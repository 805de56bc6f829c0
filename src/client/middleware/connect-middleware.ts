// `iprisk-client/express` and `iprisk-client/http`: for Express 5 and 4, other frameworks with
// (request, response, next), and the handler of a plain node:http server.

/** @ts-ignore Absent if the application has no such types. */
import type * as express from 'express'
/** @ts-ignore Absent outside Node. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressedRequest } from '../address/client-address.ts'
import {
  type GuardOptions,
  type Judged,
  createRequestGuard,
  problemOf,
  problemType,
  report,
} from './request-guard.ts'

declare global {
  // The name by which @types/express lets its requests be added to.
  // oxlint-disable-next-line typescript/no-namespace -- there is no other way to add to it
  namespace Express {
    interface Request {
      iprisk?: Judged
    }
  }
}

/** The parts of a node:http or Express request that are used. */
export interface ConnectRequest extends Pick<AddressedRequest, 'headers' | 'socket'> {
  iprisk?: Judged
}

/** The parts of a node:http or Express response that are used. */
export interface ConnectResponse {
  statusCode: number
  setHeader(name: string, value: string): unknown
  end(body: string): unknown
}

/** Answers a request that is stopped; `next` lets it continue. */
export type ConnectHandler<Request, Response> = (
  request: Request,
  response: Response,
  next: (error?: unknown) => void,
) => unknown

/**
 * The middleware; it sets `request.iprisk`.
 *
 * @example app.post('/login', iprisk({ client, policy: 'login' }), handler)
 */
export function iprisk<
  Request extends ConnectRequest = express.Request,
  Response extends ConnectResponse = express.Response,
>(
  options: GuardOptions<ConnectHandler<Request, Response>>,
): (request: Request, response: Response, next: (error?: unknown) => void) => void {
  const judge = createRequestGuard(options)
  return (request, response, next) => {
    const run = async (): Promise<void> => {
      try {
        const { judged, stop } = await judge(request)
        request.iprisk = judged
        if (stop === undefined) next()
        else if (stop === 'default') forbid(response, judged)
        else await stop(request, response, next)
      } catch (cause) {
        // An undefined error passed to `next` is none, and lets the request continue.
        next(cause instanceof Error ? cause : new Error('The challenge failed.', { cause }))
      }
    }
    // Express 4 ignores promises.
    void run()
  }
}

iprisk.report = report

function forbid(response: ConnectResponse, judged: Judged): void {
  response.statusCode = 403
  response.setHeader('content-type', problemType)
  response.end(problemOf(judged))
}

/**
 * The handler behind the check; if it throws or rejects, the answer is a 500.
 *
 * @example createServer(guarded({ client, policy: 'login' }, handler)).listen(3000)
 */
export function guarded<
  Request extends ConnectRequest = IncomingMessage & ConnectRequest,
  Response extends ConnectResponse = ServerResponse,
>(
  options: GuardOptions<ConnectHandler<Request, Response>>,
  handler: (request: Request, response: Response) => unknown,
): (request: Request, response: Response) => void {
  const middleware = iprisk(options)
  const answer = async (request: Request, response: Response): Promise<void> => {
    try {
      await handler(request, response)
    } catch {
      fail(response)
    }
  }
  return (request, response) => {
    middleware(request, response, (error) => {
      if (error === undefined) void answer(request, response)
      else fail(response)
    })
  }
}

function fail(response: ConnectResponse): void {
  response.statusCode = 500
  response.end('')
}

export type { GuardOptions, Judged } from './request-guard.ts'
