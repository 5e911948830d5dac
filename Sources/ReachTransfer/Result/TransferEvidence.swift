/// What is known about an attempt that libcurl has ended: from it ``TransferFailure`` is made.
struct TransferEvidence: Equatable {
    /// A callback ended it, for this reason: libcurl's own result only echoes that.
    var refusal: TransferFailure?
    /// `errno` of the last system call that failed.
    var systemError: Int32 = 0
    /// OpenSSL's verdict on the chain (X509_V_*), 0 where it was good or not judged.
    var verification: Int32 = 0
    var isPinMismatch = false
    /// The request was on its way, and the head of a response not complete.
    var isReadingHead = false
    /// The request was on its way: what went wrong then is not the request's fault.
    var isRequestStarted = false
    /// libcurl's sentence; may be empty.
    var text = ""
}
