/** Saves a file as a download of the browser. */
export function download(name: string, content: Blob): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  // The blob is needed until the download has started.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
