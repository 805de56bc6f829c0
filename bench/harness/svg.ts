// A few words of SVG: enough for bars, lines and labels that read on light and dark pages alike.
// Not a plotting library: what is drawn is decided in calibration-plots.ts.

export interface Point {
  readonly x: number
  readonly y: number
}

/** Mid tones, apart for the colour-blind (Okabe and Ito, 2008), on either ground. */
export const colours = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9'] as const
const ink = '#808080'

export function svg(
  size: { readonly width: number; readonly height: number },
  parts: readonly string[],
): string {
  const { width, height } = size
  const head =
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" ` +
    `width="${width}" height="${height}" font-family="sans-serif" font-size="11" fill="${ink}">`
  return `${[head, ...parts, '</svg>'].join('\n')}\n`
}

export function rect(
  at: Point & { readonly width: number; readonly height: number },
  fill: string,
): string {
  const { x, y, width, height } = at
  return `<rect x="${n(x)}" y="${n(y)}" width="${n(width)}" height="${n(height)}" fill="${fill}"/>`
}

export function line(from: Point, to: Point, stroke: string = ink): string {
  return `<line x1="${n(from.x)}" y1="${n(from.y)}" x2="${n(to.x)}" y2="${n(to.y)}" stroke="${stroke}" stroke-width="0.7"/>`
}

export function path(points: readonly Point[], stroke: string, dashed = false): string {
  const dash = dashed ? ' stroke-dasharray="5 3"' : ''
  const steps = points.map(({ x, y }, at) => `${at === 0 ? 'M' : 'L'}${n(x)} ${n(y)}`)
  return `<path d="${steps.join('')}" fill="none" stroke="${stroke}" stroke-width="1.6"${dash}/>`
}

export function circle(at: Point, radius: number, fill: string): string {
  return `<circle cx="${n(at.x)}" cy="${n(at.y)}" r="${n(radius)}" fill="${fill}"/>`
}

export function label(
  at: Point,
  text: string,
  style: { readonly anchor?: 'start' | 'middle' | 'end'; readonly fill?: string } = {},
): string {
  const { anchor = 'start', fill = ink } = style
  return `<text x="${n(at.x)}" y="${n(at.y)}" text-anchor="${anchor}" fill="${fill}">${escape(text)}</text>`
}

/** At most two decimals, so that the same data give the same bytes. */
function n(value: number): string {
  return String(Math.round(value * 100) / 100)
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
