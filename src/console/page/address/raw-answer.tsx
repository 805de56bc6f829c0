// The answer as the server sent it, the request as a command, and the link for a colleague.

import type { AddressView } from '../../../api/admin-answers.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { Panel } from '../parts/panel.tsx'
import { curlCommand } from '../text/curl.ts'

export function RawAnswer({ view, path }: { readonly view: AddressView; readonly path: string }) {
  const json = JSON.stringify(view, undefined, 2)
  return (
    <Panel
      wide
      title="For others"
      aside={
        <div class="actions">
          <CopyButton label="Copy link" what="The link" text={() => location.href} />
          <CopyButton
            label="Copy as curl"
            what="The command"
            text={() => curlCommand(location.origin, path)}
          />
          <CopyButton label="Copy JSON" what="The answer" text={() => json} />
        </div>
      }
    >
      <details>
        <summary>The answer as JSON</summary>
        <pre class="raw" tabIndex={0}>
          <code>{json}</code>
        </pre>
      </details>
    </Panel>
  )
}
